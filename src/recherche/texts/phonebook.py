"""Phone book: n lines with a name and a number; what is the number of one of them?

    Ada Berg: 555-1234
    Bo Lind: 203-9911

    Question: What is the number of Ada Berg?
    Answer: 555-1234

A search finds what follows the name. Names are two words, so that others may share either of them.

Reference: Jelassi et al. (2024), Repeat After Me, https://arxiv.org/abs/2402.01032; Wen, Dang & Lyu (2024),
Section 5.1, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from math import log2
from typing import ClassVar, final

from recherche.text_queries import After
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, searched
from recherche.texts.draws import Draws
from recherche.texts.names import NUM_PEOPLE, person

NUM_NUMBERS = 10**7


@final
@dataclass(frozen=True, kw_only=True)
class Phonebook(AbstractTextTask):
    """The number of a person in a phone book.

    Attributes:
        n: people in the book.
    """

    name: ClassVar[str] = "phonebook"
    counted: ClassVar[str] = "people"

    @property
    def lower_bound_bits(self) -> float:
        """n * log2(10^7): after the book anybody's number may be asked for, and numbers are independent."""
        return self.n * log2(NUM_NUMBERS)

    def example(self, key: int) -> TextExample:
        """A book of n different people, and one of them."""
        values = Draws(key, f"{self.name} values")
        people = [person(index) for index in Draws(key, self.name).distinct(self.n, NUM_PEOPLE)]
        numbers = [f"{values.below(1000):03d}-{values.below(10000):04d}" for _ in people]
        wanted = Draws(key, f"{self.name} question").below(self.n)
        return TextExample(
            context="".join(f"{name}: {number}\n" for name, number in zip(people, numbers, strict=True)),
            question=asked(f"What is the number of {people[wanted]}?"),
            answers=(numbers[wanted],),
            trace=searched([Ask(After(f"{people[wanted]}:"), numbers[wanted])], [numbers[wanted]]),
        )
