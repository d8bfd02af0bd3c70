"""What `prove` runs: a theorem's program at several sizes, with problems and the text that must come out.

A construction is a value. Its `suites` yield programs, each with cases whose whole completion (searches, results,
chain of thought and answer) an oracle has written that knows nothing of the program.

Reference: Wen, Dang & Lyu (2024), Sections 4 and 5, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from recherche.constructions.program import Program
from recherche.queries import Query
from recherche.vocab import NO, YES, Vocab

ReadQuery = Callable[[tuple[str, ...]], Query | str]
"""What a query between <StartSearch> and <EndSearch> asks."""


@final
@dataclass(frozen=True, slots=True)
class Case:
    """One problem: the prompt, and the whole text that must follow, the answer last."""

    prompt: tuple[str, ...]
    completion: tuple[str, ...]

    @property
    def text(self) -> tuple[str, ...]:
        """Prompt and completion."""
        return self.prompt + self.completion


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One program and the cases it must get right.

    Attributes:
        n: the size of the largest problem.
        exhaustive: whether the cases are all problems up to size n.
    """

    program: Program
    cases: Sequence[Case]
    n: int
    exhaustive: bool


@final
@dataclass(frozen=True, slots=True)
class Sizes:
    """Which problems are tried.

    Attributes:
        exhaustive: all problems up to this size; 0 for none.
        sampled: pairs of a size and a number of problems drawn at that size.
    """

    exhaustive: int
    sampled: tuple[tuple[int, int], ...]

    def only(self, n: int) -> "Sizes":
        """A few problems of size n alone."""
        return replace(self, exhaustive=0, sampled=((n, 5),))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """A theorem's program with its problems.

    Attributes:
        name: the program's name on the command line.
        theorem: number of the theorem.
        architecture: "transformer", "rnn" (linear RNN), "rnn+search" or "hybrid".
        statement: what is shown, in our words.
        program: the program for contexts of up to so many tokens; for a machine or circuit, of one example.
        suites: programs and cases for given sizes.
        answers: special tokens that end a text; none: any number token does.
        read_query: reads the queries of a model that searches, else None.
        example_size: size of the problem that the documentation shows.
        precision_sizes: sizes at which the smallest exact p is measured; none if size is no length of a context.
    """

    name: str
    theorem: str
    architecture: str
    statement: str
    program: Callable[[int], Program]
    suites: Callable[[Sizes], Iterator[Suite]]
    sizes: Sizes
    full_sizes: Sizes
    answers: tuple[str, ...] = (YES, NO)
    read_query: ReadQuery | None = None
    example_size: int = 6
    precision_sizes: tuple[int, ...] = (4, 6, 8, 12, 16, 24, 32)

    def example(self) -> Suite:
        """A program and one problem that a reader can follow by eye."""
        return next(self.suites(Sizes(0, ((self.example_size, 1),))))

    def stop_ids(self, vocab: Vocab) -> list[int]:
        """Ids of the tokens that end a text."""
        if self.answers:
            return [vocab.id_of(token) for token in self.answers]
        return [i for i, token in enumerate(vocab.tokens) if token.isdecimal()]
