"""Counting: given n tokens, a token v and a number t >= 1, say whether v occurs more than t times.

    prompt  <s> 3 1 1 3 1 1 2       target  YES      (1 occurs three times, which is more than 2)

Drawn at the threshold: v occurs exactly t or t + 1 times, by a fair coin, with t uniform in 1..n // 2. A chain of
thought writes the positions of v, from the first to the last: above, 2 3 5 YES.

    >>> Counting(n=5).solve({"tokens": [3, 1, 1, 3, 1], "value": 1, "threshold": 2})
    'YES'
    >>> Counting(n=5).solve({"tokens": [3, 1, 1, 3, 1], "value": 3, "threshold": 2})
    'NO'

Reference: Wen, Dang & Lyu (2024), Definition 4.5, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass, field, replace
from math import comb, lgamma, log2
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Bool, Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, shuffle, stream
from recherche.queries import Count, Query
from recherche.tasks.base import affordable
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup, SearchAnswer, WorkedAnswer
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import FAILED_ID, NO_ID, YES_ID
from recherche.vocab import NO, YES


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Counting(AbstractNumberTask):
    """Whether a token occurs more than t times.

    Attributes:
        n: tokens of the list, from 1..n_symbols.
        n_symbols: how many different tokens there are; n unless given.
        n_numbers: how many numbers the vocabulary names; what tokens and thresholds need unless given.
    """

    key: ClassVar[str] = "counting"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType(
        {"direct": DirectAnswer(), "cot": WorkedAnswer(), "retrieval": SearchAnswer()}
    )
    n: int = 16
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    n_symbols: int | None = None
    n_numbers: int | None = None

    def __post_init__(self) -> None:
        require(self.n >= 2, f"Counting needs at least 2 tokens, got n = {self.n}; raise n.")
        require(
            self.num_symbols >= 2, f"Counting needs at least 2 different tokens, got {self.num_symbols}; set n_symbols."
        )
        require(
            self.num_numbers >= self._largest_number,
            f"Counting needs {self._largest_number} numbers, got n_numbers = {self.num_numbers}; raise it.",
        )

    @property
    def num_symbols(self) -> int:
        """How many different tokens a list can have."""
        return self.n if self.n_symbols is None else self.n_symbols

    @property
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""
        return self._largest_number if self.n_numbers is None else self.n_numbers

    @property
    def _largest_number(self) -> int:
        """Of tokens, thresholds and the positions that a chain of thought writes."""
        return max(self.num_symbols, self.n if self.protocol.name == "cot" else self.n // 2)

    @property
    def answer_tokens(self) -> tuple[str, ...]:
        """YES and NO."""
        return (YES, NO)

    @property
    def max_length(self) -> int:
        """`<s>`, the list, value and threshold, and the target."""
        return self.n + 3 + self.protocol.max_target(2, self.n // 2 + 1)

    @property
    def chance(self) -> float:
        """A coin: the answer is drawn apart from value and threshold."""
        return 0.5

    @property
    def lower_bound_bits(self) -> float:
        """log2 of the largest binomial (k over j) with k + j tokens in the list.

        Take lists in which j of the tokens 1..k occur twice and the other k - j once; what is left of the n places goes
        to one more token, if there is a rest. There are (k over j) such multisets. Two of them differ at some token
        that occurs once here and twice there; it may be asked for with t = 1 in both, with different right answers. So
        a reader that is always right is in different states after them.
        """
        n, symbols = affordable(self).n, self.num_symbols
        # Of each k the j nearest to k / 2; with every symbol among the k none is left for a rest of other tokens.
        best = ((k, min(k // 2, n - k) if k < symbols else n - k) for k in range(1, min(n, symbols) + 1))
        k, j = max(((k, j) for k, j in best if 0 <= j <= k), key=lambda pair: _log_binomial(*pair))
        return log2(comb(k, j))

    def at_size(self, n: int) -> "Counting":
        """Lists of n tokens of the same kind.

        Raises:
            ConfigError: n is too small, or the vocabulary cannot name the thresholds.
        """
        return replace(self, n=n, n_symbols=self.num_symbols, n_numbers=self.num_numbers)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """A list with t or t + 1 copies of a random token."""
        tokens, question, more = draw(keys, self.n, self.num_symbols)
        ids = question + FAILED_ID
        found = np.where(more, ids[:, 0], FAILED_ID)
        answers = np.where(more, YES_ID, NO_ID)
        occurs = tokens == question[:, :1]
        places = np.argsort(~occurs, axis=1, kind="stable")[:, : self.n // 2 + 1] + 1 + FAILED_ID
        lookup = Lookup(ids, found, answers, (places, occurs.sum(axis=1)))
        return prompts_of(tokens + FAILED_ID, ids), self.protocol.write(lookup)

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The list, the token and the threshold."""
        *tokens, value, threshold = map(int, prompt[1:])
        return {"tokens": tokens, "value": value, "threshold": threshold}

    def solve(self, problem: dict[str, Any]) -> str:
        """YES if the value occurs more often than the threshold says."""
        return YES if problem["tokens"].count(problem["value"]) > problem["threshold"] else NO

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """A token and a threshold.

        Raises:
            QueryError: the tokens are not two numbers.
        """
        match tokens:
            case (value, threshold) if self.is_number(value) and self.is_number(threshold):
                return Count(value, int(threshold))
        raise refuse_query(self.key, tokens, form="for a token and a threshold")


@compiled
def draw(
    keys: UInt64[np.ndarray, " b"], n: int, n_symbols: int
) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, "b 2"], Bool[np.ndarray, " b"]]:
    """Tokens, (value, threshold), and whether the value occurs more often, for each key."""
    tokens = np.empty((len(keys), n), np.int64)
    question = np.empty((len(keys), 2), np.int64)
    more = np.empty(len(keys), np.bool_)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        value = 1 + below(state, n_symbols)
        threshold = 1 + below(state, n // 2)
        above = below(state, 2)
        for i in range(n):
            other = 1 + below(state, n_symbols - 1)
            tokens[row, i] = value if i < threshold + above else other + (other >= value)
        shuffle(state, tokens[row])
        question[row, 0] = value
        question[row, 1] = threshold
        more[row] = above == 1
    return tokens, question, more


def _log_binomial(k: int, j: int) -> float:
    """The natural logarithm of (k over j)."""
    return lgamma(k + 1) - lgamma(j + 1) - lgamma(k - j + 1)
