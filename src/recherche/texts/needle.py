"""Needles in prose: sentences that state a number, hidden between the sentences of real books.

    ... Call me Ishmael. The magic number of Ada Berg is 7391046. Some years ago ...

    Question: What is the magic number of Ada Berg?
    Answer: 7391046

    needle              one needle
    needle_multikey     needles of several people, of whom one is asked for
    needle_multivalue   several needles of one person, all asked for; the last search finds nothing: these were all
    needle_multiquery   needles of several people, all asked for

A search finds what stands between `magic number of Ada Berg is` and the next full stop.

Reference: Hsieh et al. (2024), RULER, Section 3 (retrieval), https://arxiv.org/abs/2404.06654
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log, log2
from typing import ClassVar, final

from recherche.text_queries import Between
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, listed, searched
from recherche.texts.draws import Draws
from recherche.texts.names import NUM_PEOPLE, person
from recherche.texts.prose import passage, sentence_ends, sentence_starts

DIGITS = 7
NUM_VALUES = 9 * 10 ** (DIGITS - 1)
MAX_NEEDLES = 1000


@dataclass(frozen=True, kw_only=True)
class AbstractNeedle(AbstractTextTask):
    """Needles in n words of prose.

    Attributes:
        n: words of prose; the needles come on top.
        prose: a file of prose of one's own; None for the books that ship.
    """

    counted: ClassVar[str] = "words"
    largest: ClassVar[int] = 1_000_000
    n: int = 300
    prose: str | None = None

    @abstractmethod
    def example(self, key: int) -> TextExample:
        """Prose with needles, and a question."""

    def haystack(self, draws: Draws, needles: Sequence[str]) -> str:
        """n words of prose from a random sentence on, with each needle before or after a random sentence."""
        starts = sentence_starts(self.prose)
        words = passage(starts[draws.below(len(starts))], self.n, path=self.prose)
        places = (0, *sentence_ends(words))
        hidden = [(places[draws.below(len(places))], needle) for needle in draws.shuffled(needles)]
        chosen = sorted(hidden, key=lambda place_and_needle: place_and_needle[0])
        ends = [place for place, _ in chosen[1:]] + [self.n]
        parts = ["".join(words[: chosen[0][0]])]
        parts += [f"{needle} {''.join(words[at:end])}" for (at, needle), end in zip(chosen, ends, strict=True)]
        return "".join(parts).rstrip() + "\n"

    def one_value_each(self, key: int, num_people: int, num_wanted: int) -> TextExample:
        """Needles of several people, of whom the first `num_wanted` are asked for."""
        draws = Draws(key, self.name)
        people = [person(index) for index in draws.distinct(num_people, NUM_PEOPLE)]
        values = [str(NUM_VALUES // 9 + value) for value in draws.distinct(num_people, NUM_VALUES)]
        needles = [f"The {_about(name)} {value}." for name, value in zip(people, values, strict=True)]
        wanted, answers = people[:num_wanted], values[:num_wanted]
        verb = "is the magic number" if num_wanted == 1 else "are the magic numbers"
        return TextExample(
            context=self.haystack(draws, needles),
            question=asked(f"What {verb} of {listed(wanted)}?"),
            answers=tuple(answers),
            trace=searched(
                [Ask(Between(_about(name), "."), value) for name, value in zip(wanted, answers, strict=True)], answers
            ),
        )


@final
@dataclass(frozen=True, kw_only=True)
class Needle(AbstractNeedle):
    """One needle."""

    name: ClassVar[str] = "needle"

    @property
    def lower_bound_bits(self) -> float:
        """log2(9 * 10^6), the number itself."""
        return log2(NUM_VALUES)

    def example(self, key: int) -> TextExample:
        """A needle, which is asked for."""
        return self.one_value_each(key, 1, 1)


@final
@dataclass(frozen=True, kw_only=True)
class NeedleMultiKey(AbstractNeedle):
    """Needles of several people, of whom one is asked for.

    Attributes:
        keys: people.
    """

    name: ClassVar[str] = "needle_multikey"
    keys: int = 4

    def __post_init__(self) -> None:
        self.require_between("keys", 1, MAX_NEEDLES)
        super().__post_init__()

    @property
    def lower_bound_bits(self) -> float:
        """log2 of (9 * 10^6)! / (9 * 10^6 - keys)!: after the text anybody may be asked for."""
        return _log2_arrangements(self.keys)

    def example(self, key: int) -> TextExample:
        """The first person drawn is asked for; the places of needles are random."""
        return self.one_value_each(key, self.keys, 1)


@final
@dataclass(frozen=True, kw_only=True)
class NeedleMultiQuery(AbstractNeedle):
    """Needles of several people, all asked for.

    Attributes:
        queries: people.
    """

    name: ClassVar[str] = "needle_multiquery"
    queries: int = 4

    def __post_init__(self) -> None:
        self.require_between("queries", 1, MAX_NEEDLES)
        super().__post_init__()

    @property
    def lower_bound_bits(self) -> float:
        """log2 of 9 * 10^6 over `queries`: the question says whose numbers are wanted, in any order."""
        return _log2_arrangements(self.queries) - lgamma(self.queries + 1) / log(2)

    def example(self, key: int) -> TextExample:
        """All people are asked for."""
        return self.one_value_each(key, self.queries, self.queries)


@final
@dataclass(frozen=True, kw_only=True)
class NeedleMultiValue(AbstractNeedle):
    """Several needles of one person.

    Attributes:
        values: needles.
    """

    name: ClassVar[str] = "needle_multivalue"
    values: int = 4

    def __post_init__(self) -> None:
        self.require_between("values", 1, MAX_NEEDLES)
        super().__post_init__()

    @property
    def lower_bound_bits(self) -> float:
        """log2 of 9 * 10^6 over `values`, the set of numbers."""
        return _log2_arrangements(self.values) - lgamma(self.values + 1) / log(2)

    def example(self, key: int) -> TextExample:
        """The answers stand in the order of the text."""
        draws = Draws(key, self.name)
        name = person(draws.below(NUM_PEOPLE))
        values = [str(NUM_VALUES // 9 + value) for value in draws.distinct(self.values, NUM_VALUES)]
        context = self.haystack(draws, [f"One {_about(name)} {value}." for value in values])
        answers = sorted(values, key=lambda value: context.index(f"{_about(name)} {value}."))
        asks = [Ask(Between(_about(name), ".", which), value) for which, value in enumerate(answers, start=1)]
        return TextExample(
            context=context,
            question=asked(f"What are all the magic numbers of {name}?"),
            answers=tuple(answers),
            trace=searched([*asks, Ask(Between(_about(name), ".", self.values + 1), None)], answers),
        )


def _about(name: str) -> str:
    return f"magic number of {name} is"


def _log2_arrangements(count: int) -> float:
    return (lgamma(NUM_VALUES + 1) - lgamma(NUM_VALUES - count + 1)) / log(2)
