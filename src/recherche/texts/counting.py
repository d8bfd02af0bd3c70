"""Counting a word: n lines with a word and the number of the line; on how many lines does a word stand?

    harbor: 1
    quiet: 2
    harbor: 3

    Question: On how many lines does harbor stand?
    Answer: 2

A search finds the first line, the second, and so on until there are no more.

Reference: Wen, Dang & Lyu (2024), Definition 4.5, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from typing import ClassVar, final

from recherche.text_queries import After
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, searched
from recherche.texts.draws import Draws
from recherche.texts.names import NUM_WORDS, words

LINES_PER_WORD = 4
MAX_MOST = 1000


@final
@dataclass(frozen=True, kw_only=True)
class CountingWord(AbstractTextTask):
    """How often a word occurs.

    Attributes:
        n: lines. The other words occur about four times each.
        most: the greatest count that is asked for; counts from 0 to `most` (or n) are equally likely.
    """

    name: ClassVar[str] = "counting"
    counted: ClassVar[str] = "lines"
    most: int = 8

    def __post_init__(self) -> None:
        self.require_between("most", 1, MAX_MOST)
        super().__post_init__()

    def example(self, key: int) -> TextExample:
        """Lines in random order, and a word that stands on some of them."""
        draws, known = Draws(key, self.name), words()
        num_others = max(1, min(self.n // LINES_PER_WORD, NUM_WORDS - 1))
        wanted, *others = (known[index] for index in draws.distinct(num_others + 1, NUM_WORDS))
        count = draws.below(min(self.most, self.n) + 1)
        rest = [others[draws.below(num_others)] for _ in range(self.n - count)]
        lines = draws.shuffled([wanted] * count + rest)
        places = [str(place) for place, word in enumerate(lines, start=1) if word == wanted]
        asks = [Ask(After(f"{wanted}:", which), place) for which, place in enumerate(places, start=1)]
        return TextExample(
            context="".join(f"{word}: {place}\n" for place, word in enumerate(lines, start=1)),
            question=asked(f"On how many lines does {wanted} stand?"),
            answers=(str(count),),
            trace=searched([*asks, Ask(After(f"{wanted}:", count + 1), None)], [str(count)]),
        )
