"""Associative recall: given n different tokens and one of them, name the token that follows it.

    prompt  <s> 3 1 4 2 1           target  4        (4 follows 1)

The tokens are a random arrangement, so that exactly one token follows the one that is asked for. (The paper lets tokens
repeat; then the first occurrence counts, and a guesser gains from counting.) The last token of the list is never asked
for.

    >>> Recall(n=4).solve({"tokens": [3, 1, 4, 2], "query": 1})
    '4'
    >>> Recall(n=4).solve({"tokens": [3, 1, 4, 2], "query": 4})
    '2'

Reference: Wen, Dang & Lyu (2024), Definition 4.3, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass, field, replace
from math import lgamma, log
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, permutation, stream
from recherche.queries import AR, Query
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup, SearchAnswer
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import FAILED_ID


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(AbstractNumberTask):
    """The token after a token (associative recall).

    Attributes:
        n: tokens of the list.
        n_numbers: how many tokens there are to choose from; n unless given.
    """

    key: ClassVar[str] = "recall"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType(
        {"direct": DirectAnswer(), "retrieval": SearchAnswer()}
    )
    n: int = 16
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    n_numbers: int | None = None

    def __post_init__(self) -> None:
        require(self.n >= 2, f"Recall needs a token and one after it, got n = {self.n}; use at least 2.")
        require(
            self.num_numbers >= self.n,
            f"Recall needs {self.n} different tokens, got n_numbers = {self.num_numbers}; raise it or lower n.",
        )

    @property
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""
        return self.n if self.n_numbers is None else self.n_numbers

    @property
    def max_length(self) -> int:
        """`<s>`, the list, the question and the target."""
        return self.n + 2 + self.protocol.max_target(1)

    @property
    def chance(self) -> float:
        """One in n_numbers - 1: any token but the one asked for is equally likely to follow it."""
        return 1 / (self.num_numbers - 1)

    @property
    def lower_bound_bits(self) -> float:
        """log2 of (n_numbers - 1)! / (n_numbers - n)!, the number of lists that start with token 1.

        After the list any token but the last may be asked for. Let two lists that start with 1 differ first at place
        i > 1. Then place i - 1 holds the same token in both, it is not the last in either, and different tokens follow
        it. So a reader that is always right is in different states after them. With n_numbers = n the bound is exact:
        it is enough to remember the circle that the list and its first token make, and there are (n - 1)! circles.
        """
        return (lgamma(self.num_numbers) - lgamma(self.num_numbers - self.n + 1)) / log(2)

    def at_size(self, n: int) -> "Recall":
        """Lists of n tokens, chosen from the same numbers.

        Raises:
            ConfigError: n is too small, or there are fewer than n numbers.
        """
        return replace(self, n=n, n_numbers=self.num_numbers)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """A random arrangement, a random token that is not its last."""
        tokens, places = draw(keys, self.n, self.num_numbers)
        question = np.take_along_axis(tokens, places[:, None], axis=1) + FAILED_ID
        answers = np.take_along_axis(tokens, places[:, None] + 1, axis=1)[:, 0] + FAILED_ID
        return prompts_of(tokens + FAILED_ID, question), self.protocol.write(Lookup(question, answers, answers))

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The list and the token asked for."""
        return {"tokens": [int(token) for token in prompt[1:-1]], "query": int(prompt[-1])}

    def solve(self, problem: dict[str, Any]) -> str:
        """The token after the one asked for."""
        return str(problem["tokens"][problem["tokens"].index(problem["query"]) + 1])

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """A token.

        Raises:
            QueryError: the tokens are not one number.
        """
        match tokens:
            case (token,) if self.is_number(token):
                return AR(token)
        raise refuse_query(self.key, tokens, form="for one token")


@compiled
def draw(
    keys: UInt64[np.ndarray, " b"], n: int, n_numbers: int
) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, " b"]]:
    """An arrangement of n of the numbers, and a place (from 0) before the last, for each key."""
    tokens = np.empty((len(keys), n), np.int64)
    places = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        tokens[row] = permutation(state, n_numbers)[:n] + 1
        places[row] = below(state, n - 1)
    return tokens, places
