"""Index: given n tokens and a position, name the token at that position.

    prompt  <s> 3 1 4 1 2           target  1        (the last token asks for position 2, counted from 1)

A streaming reader meets the position last, so that it must still hold all n tokens. With search the query is the
position and the retriever counts tokens from `<s>` on, so position i is its token i + 1.

    >>> Index(n=4).solve({"tokens": [3, 1, 4, 1], "position": 2})
    '1'
    >>> Index(n=4).solve({"tokens": [3, 1, 4, 1], "position": 3})
    '4'

Reference: Wen, Dang & Lyu (2024), Definition 4.2, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass, field, replace
from math import log2
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Int64, UInt64

from recherche import queries
from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, stream
from recherche.queries import Query
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup, SearchAnswer
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import FAILED_ID


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Index(AbstractNumberTask):
    """The token at a position.

    Attributes:
        n: tokens of the list, drawn uniformly from 1..n_symbols.
        n_symbols: how many different tokens there are; n unless given.
        n_numbers: how many numbers the vocabulary names; what tokens and positions need unless given.
    """

    key: ClassVar[str] = "index"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType(
        {"direct": DirectAnswer(), "retrieval": SearchAnswer()}
    )
    n: int = 16
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    n_symbols: int | None = None
    n_numbers: int | None = None

    def __post_init__(self) -> None:
        require(self.n >= 1, f"Index needs at least one token, got n = {self.n}; use 1 for the trivial case.")
        require(
            self.num_symbols >= 2, f"Index needs at least 2 different tokens, got {self.num_symbols}; set n_symbols."
        )
        needed = max(self.n, self.num_symbols)
        require(
            self.num_numbers >= needed, f"Index needs {needed} numbers, got n_numbers = {self.num_numbers}; raise it."
        )

    @property
    def num_symbols(self) -> int:
        """How many different tokens a list can have."""
        return self.n if self.n_symbols is None else self.n_symbols

    @property
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""
        return max(self.n, self.num_symbols) if self.n_numbers is None else self.n_numbers

    @property
    def max_length(self) -> int:
        """`<s>`, the list, the position and the target."""
        return self.n + 2 + self.protocol.max_target(1)

    @property
    def chance(self) -> float:
        """One in n_symbols: the token asked for is uniform."""
        return 1 / self.num_symbols

    @property
    def lower_bound_bits(self) -> float:
        """n log2(n_symbols), and that is exact.

        After the list any position may be asked. Two different lists differ at some position, and the right answers
        there differ; so a reader that is always right is in different states after them. There are n_symbols^n lists.
        A table of the tokens needs no more.
        """
        return self.n * log2(self.num_symbols)

    def at_size(self, n: int) -> "Index":
        """Lists of n tokens of the same kind.

        Raises:
            ConfigError: n is too small, or the vocabulary cannot name n positions.
        """
        return replace(self, n=n, n_symbols=self.num_symbols, n_numbers=self.num_numbers)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """Uniform tokens, a uniform position."""
        tokens, positions = draw(keys, self.n, self.num_symbols)
        answers = np.take_along_axis(tokens, positions[:, None] - 1, axis=1)[:, 0] + FAILED_ID
        question = positions[:, None] + FAILED_ID
        return prompts_of(tokens + FAILED_ID, question), self.protocol.write(Lookup(question, answers, answers))

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The list and the position."""
        return {"tokens": [int(token) for token in prompt[1:-1]], "position": int(prompt[-1])}

    def solve(self, problem: dict[str, Any]) -> str:
        """The token at the position."""
        return str(problem["tokens"][problem["position"] - 1])

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """A position.

        Raises:
            QueryError: the tokens are no position.
        """
        match tokens:
            case (position,) if self.is_number(position):
                return queries.Index(int(position) + 1)
        raise refuse_query(self.key, tokens, form="for a position")


@compiled
def draw(
    keys: UInt64[np.ndarray, " b"], n: int, n_symbols: int
) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, " b"]]:
    """Tokens and a position (from 1) for each key."""
    tokens = np.empty((len(keys), n), np.int64)
    positions = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        for i in range(n):
            tokens[row, i] = 1 + below(state, n_symbols)
        positions[row] = 1 + below(state, n)
    return tokens, positions
