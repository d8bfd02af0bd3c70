"""Copying a passage: n sentences of real prose, each on a line; write down the one that begins with given words.

    Call me Ishmael, and say no more of it today.
    It is a truth universally acknowledged, ...

    Question: Which line begins with these words: It is a truth
    Answer: It is a truth universally acknowledged, ...

Reference: Jelassi et al. (2024), Repeat After Me, https://arxiv.org/abs/2402.01032
"""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, final

from recherche.errors import InputError
from recherche.text_queries import Line
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, searched
from recherche.texts.draws import Draws
from recherche.texts.prose import sentences

MIN_WORDS, MAX_WORDS = 8, 30
"""Lengths of the sentences in words."""

CUE_WORDS = (4, 6, MIN_WORDS)
"""Lengths of what is given; the shortest that one line alone holds is taken."""


@final
@dataclass(frozen=True, kw_only=True)
class CopyingPassage(AbstractTextTask):
    """The line that begins with given words.

    Attributes:
        n: sentences that follow one another in the prose, those of 8 to 30 words.
        prose: a file of prose of one's own; None for the books that ship.
    """

    name: ClassVar[str] = "copying"
    counted: ClassVar[str] = "sentences"
    largest: ClassVar[int] = 10_000
    prose: str | None = None

    @property
    def greatest(self) -> int:
        """As many sentences as the prose has.

        Raises:
            InputError: the prose cannot be read, or has no sentence of these lengths.
        """
        if not (there := _passages(self.prose)):
            raise InputError(
                f"Copying needs sentences of {MIN_WORDS} to {MAX_WORDS} words, found none in {self.prose}; "
                "give another text."
            )
        return min(len(there), self.largest)

    def example(self, key: int) -> TextExample:
        """Sentences from a random place of the prose on, and the first words of one of them."""
        there = _passages(self.prose)
        draws = Draws(key, self.name)
        start = draws.below(len(there))
        lines = (*there[start : start + self.n], *there[: max(0, start + self.n - len(there))])
        line, cue = _choose(draws, lines)
        return TextExample(
            context="".join(f"{sentence}\n" for sentence in lines),
            question=asked(f"Which line begins with these words: {cue}"),
            answers=(line,),
            trace=searched([Ask(Line(cue), line)], [line]),
        )


@cache
def _passages(path: str | None) -> tuple[str, ...]:
    """The sentences that may be copied."""
    return tuple(line for line in sentences(path) if MIN_WORDS <= len(line.split()) <= MAX_WORDS)


def _choose(draws: Draws, lines: tuple[str, ...]) -> tuple[str, str]:
    """A line and its first words, which stand nowhere else; where there is none, the first line."""
    text = "\n".join(lines)
    for i in draws.shuffled(range(len(lines))):
        for count in CUE_WORDS:
            cue = " ".join(lines[i].split()[:count])
            if text.count(cue) == 1:
                return lines[i], cue
    return lines[0], " ".join(lines[0].split()[:MIN_WORDS])
