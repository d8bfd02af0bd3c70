"""Problems of the four retrieval tasks, all small ones or random large ones, with their answers by definition.

    Index      <s> x1 ... xn i       x_i
    AR         <s> x1 ... xn q       the token after the first q among x1 ... x_{n-1}
    c-gram     <s> x1 ... xn g       the token after the first copy of the (c-1)-gram g that is followed by a token
    Counting   <s> x1 ... xn q t     YES iff q occurs more than t times among x1 ... xn

Tokens and positions are numbers 1..n. A query that has no answer is no problem.

Reference: Wen, Dang & Lyu (2024), Definitions 4.2-4.5, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np

from recherche._rng import numpy_generator
from recherche.constructions.construction import Sizes
from recherche.vocab import BEGIN, NO, YES

Tokens = tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """A prompt of numbers after <s>, how many of them are the query, and the answer."""

    numbers: Tokens
    n_query: int
    answer: str

    @property
    def prompt(self) -> tuple[str, ...]:
        """The tokens a model reads."""
        return (BEGIN, *map(str, self.numbers))

    @property
    def query(self) -> tuple[str, ...]:
        """The query's tokens, the last ones of the prompt."""
        return self.prompt[len(self.prompt) - self.n_query :]


@final
@dataclass(frozen=True, slots=True)
class RetrievalTask:
    """One of the four tasks: its queries for given tokens, and the answer to a query (None if there is none).

    Attributes:
        smallest: no problem has fewer tokens.
    """

    name: str
    smallest: int
    queries: Callable[[Tokens], Iterator[Tokens]]
    draw_query: Callable[[np.random.Generator, Tokens], Tokens]
    solve: Callable[[Tokens, Tokens], str | None]

    def problem(self, x: Tokens, query: Tokens) -> Problem | None:
        """The problem that asks `query` of `x`, or None if it has no answer."""
        answer = self.solve(x, query)
        return None if answer is None else Problem(x + query, len(query), answer)

    def exhaustive(self, n_max: int) -> list[Problem]:
        """Every problem with at most n_max tokens."""
        found = []
        for n in range(1, n_max + 1):
            for x in product(range(1, n + 1), repeat=n):
                found += [self.problem(x, query) for query in self.queries(x)]
        return [problem for problem in found if problem is not None]

    def sampled(self, n: int, count: int) -> list[Problem]:
        """`count` random problems with n tokens."""
        generator = numpy_generator(n, f"problems/{self.name}")
        found: list[Problem] = []
        while len(found) < count:
            x = tuple(generator.integers(1, n + 1, size=n).tolist())
            problem = self.problem(x, self.draw_query(generator, x))
            found += [] if problem is None else [problem]
        return found

    def groups(self, sizes: Sizes) -> Iterator[tuple[int, bool, list[Problem]]]:
        """(size, exhaustive, problems) for each part of `sizes`."""
        if sizes.exhaustive and (problems := self.exhaustive(sizes.exhaustive)):
            yield sizes.exhaustive, True, problems
        for n, count in sizes.sampled:
            if n >= self.smallest:
                yield n, False, self.sampled(n, count)


def _after_gram(x: Tokens, gram: Tokens) -> str | None:
    for start in range(len(x) - len(gram)):
        if x[start : start + len(gram)] == gram:
            return str(x[start + len(gram)])
    return None


def _positions(x: Tokens) -> Iterator[Tokens]:
    yield from ((i,) for i in range(1, len(x) + 1))


def _any_position(generator: np.random.Generator, x: Tokens) -> Tokens:
    return (int(generator.integers(1, len(x) + 1)),)


INDEX = RetrievalTask("index", 1, _positions, _any_position, lambda x, query: str(x[query[0] - 1]))


def cgram_task(c: int) -> RetrievalTask:
    """c-gram retrieval: queries of c - 1 tokens; c = 2 is associative recall."""

    def queries(x: Tokens) -> Iterator[Tokens]:
        yield from sorted({x[i : i + c - 1] for i in range(len(x) - c + 1)})

    def draw_query(generator: np.random.Generator, x: Tokens) -> Tokens:
        start = int(generator.integers(0, len(x) - c + 1))
        return x[start : start + c - 1]

    return RetrievalTask("ar" if c == 2 else f"{c}gram", c, queries, draw_query, _after_gram)


AR = cgram_task(2)


def _values_and_thresholds(x: Tokens) -> Iterator[Tokens]:
    yield from product(range(1, len(x) + 1), repeat=2)


def _near_threshold(generator: np.random.Generator, x: Tokens) -> Tokens:
    """A token that occurs, and a threshold at or beside its count, where an error of one shows."""
    value = x[int(generator.integers(0, len(x)))]
    return value, max(1, x.count(value) - int(generator.integers(0, 3)) + 1)


COUNTING = RetrievalTask(
    "counting",
    1,
    _values_and_thresholds,
    _near_threshold,
    lambda x, query: YES if x.count(query[0]) > query[1] else NO,
)
