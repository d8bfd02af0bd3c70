"""q-sparse averaging: given n numbers and q positions, average the numbers at those positions.

    prompt  <s> 3 1 4 1 2 3          target  5        (positions 2 and 3 hold 1 and 4; q = 2)

The answer is q times the average, the sum, so that it is an exact integer. The positions are different and in
increasing order. (The original asks for the average at every position, each with its own q positions; here one question
is asked.) A chain of thought is a tally, since a number would end the text: for each position as many `~` as its number
says and a `-`, and then the sum; above, ~ - ~ ~ ~ ~ - 5.

    >>> Averaging(n=4, q=2).solve({"numbers": [3, 1, 4, 1], "positions": [2, 3]})
    '5'
    >>> Averaging(n=4, q=3).solve({"numbers": [3, 1, 4, 1], "positions": [1, 2, 4]})
    '5'

Reference: Sanford, Hsu & Telgarsky (2023), Representational Strengths and Limitations of Transformers,
https://arxiv.org/abs/2306.02896
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import log2
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, permutation, stream
from recherche.queries import Query
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup, WorkedAnswer
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import EDGE_ID, FAILED_ID, RECORD_ID


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Averaging(AbstractNumberTask):
    """The average of q chosen numbers, times q.

    Attributes:
        n: numbers of the list, from 1..n_values.
        q: how many of them are averaged.
        n_values: how many different numbers there are in a list.
        n_numbers: how many numbers the vocabulary names; what positions and sums need unless given.
    """

    key: ClassVar[str] = "averaging"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType(
        {"direct": DirectAnswer(), "cot": WorkedAnswer()}
    )
    n: int = 16
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    q: int = 3
    n_values: int = 4
    n_numbers: int | None = None

    def __post_init__(self) -> None:
        require(
            1 <= self.q <= self.n, f"Averaging needs 1 <= q <= n, got q = {self.q} of n = {self.n}; lower q or raise n."
        )
        require(self.n_values >= 2, f"Averaging needs at least 2 different numbers, got n_values = {self.n_values}.")
        needed = max(self.n, self.q * self.n_values)
        require(
            self.num_numbers >= needed,
            f"Averaging needs {needed} numbers, got n_numbers = {self.num_numbers}; raise it.",
        )

    @property
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""
        return max(self.n, self.q * self.n_values) if self.n_numbers is None else self.n_numbers

    @property
    def max_length(self) -> int:
        """`<s>`, the list, the positions and the target."""
        return self.n + self.q + 1 + self.protocol.max_target(0, self.q * (self.n_values + 1))

    @property
    def chance(self) -> float:
        """The probability of the likeliest sum of q uniform numbers, by repeated convolution."""
        return float(max(sum_distribution(self.q, self.n_values)))

    @property
    def lower_bound_bits(self) -> float:
        """n log2(n_values) for q < n, log2(n (n_values - 1) + 1) for q = n; both are exact.

        After the list any q positions may be asked. For q < n the sums over all of them fix the list: exchange one
        position for another and the sums differ by x_a - x_b, which gives all differences; with them one sum gives x_1.
        So different lists have different right answers somewhere, and there are n_values^n lists. For q = n there is
        one question, whose answer takes n (n_values - 1) + 1 values.
        """
        if self.q < self.n:
            return self.n * log2(self.n_values)
        return log2(self.n * (self.n_values - 1) + 1)

    def at_size(self, n: int) -> "Averaging":
        """Lists of n numbers of the same kind.

        Raises:
            ConfigError: n is smaller than q, or the vocabulary cannot name n positions.
        """
        return replace(self, n=n, n_numbers=self.num_numbers)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """Uniform numbers, uniform positions."""
        numbers, positions = draw(keys, self.n, self.n_values, self.q)
        chosen = np.take_along_axis(numbers, positions - 1, axis=1)
        sums = chosen.sum(axis=1) + FAILED_ID
        lookup = Lookup(positions[:, :0], sums, sums, (tally(chosen), sums - FAILED_ID + self.q))
        return prompts_of(numbers + FAILED_ID, positions + FAILED_ID), self.protocol.write(lookup)

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The list and the positions."""
        numbers = [int(token) for token in prompt[1:]]
        return {"numbers": numbers[: self.n], "positions": numbers[self.n :]}

    def solve(self, problem: dict[str, Any]) -> str:
        """The sum of the numbers at the positions."""
        return str(sum(problem["numbers"][position - 1] for position in problem["positions"]))

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """No query.

        Raises:
            QueryError: always.
        """
        raise refuse_query(self.key, tokens, form="nothing")


def sum_distribution(q: int, n_values: int) -> list[Fraction]:
    """The probabilities of the sums q, q + 1, ..., q n_values of q uniform numbers from 1..n_values.

    >>> [str(p) for p in sum_distribution(2, 3)]
    ['1/9', '2/9', '1/3', '2/9', '1/9']
    """
    chances = [Fraction(1)]
    for _ in range(q):
        padded = [Fraction(0)] * (n_values - 1) + chances + [Fraction(0)] * (n_values - 1)
        chances = [sum(padded[i : i + n_values], Fraction(0)) / n_values for i in range(len(chances) + n_values - 1)]
    return chances


@compiled
def draw(
    keys: UInt64[np.ndarray, " b"], n: int, n_values: int, q: int
) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, "b q"]]:
    """Numbers, and q increasing positions (from 1), for each key."""
    numbers = np.empty((len(keys), n), np.int64)
    positions = np.empty((len(keys), q), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        for i in range(n):
            numbers[row, i] = 1 + below(state, n_values)
        positions[row] = np.sort(permutation(state, n)[:q]) + 1
    return numbers, positions


@compiled
def tally(chosen: Int64[np.ndarray, "b q"]) -> Int64[np.ndarray, "b w"]:
    """As many `~` as each number says and a `-` after them, for each row; 0 after the last."""
    n_rows, q = chosen.shape
    marks = np.zeros((n_rows, chosen.sum(axis=1).max() + q if n_rows else 0), np.int64)
    for row in range(n_rows):
        end = 0
        for i in range(q):
            marks[row, end : end + chosen[row, i]] = EDGE_ID
            end += chosen[row, i]
            marks[row, end] = RECORD_ID
            end += 1
    return marks
