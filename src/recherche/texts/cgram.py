"""c-gram retrieval in words: n words and c - 1 of them that follow one another; which word comes next?

    stone harbor quiet amber harbor stone

    Question: Which word follows harbor quiet?
    Answer: amber

If the words stand together more than once, the first place counts. There are so few kinds of words that each stands at
many places, but few pairs of them do.

Reference: Wen, Dang & Lyu (2024), Definition 4.4, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from math import isqrt
from typing import ClassVar, final

from recherche.text_queries import Word
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, searched
from recherche.texts.draws import Draws
from recherche.texts.names import NUM_WORDS, words

MAX_C = 8


@final
@dataclass(frozen=True, kw_only=True)
class CGramWords(AbstractTextTask):
    """The word after c - 1 words.

    Attributes:
        n: words of the text, of 2 sqrt(n) kinds.
        c: words of a gram, the answer included.
    """

    name: ClassVar[str] = "cgram"
    counted: ClassVar[str] = "words"
    c: int = 3

    def __post_init__(self) -> None:
        self.require_between("c", 2, MAX_C)
        super().__post_init__()

    @property
    def least(self) -> int:
        """One gram."""
        return self.c

    def example(self, key: int) -> TextExample:
        """Random words, and those before one of them."""
        draws, known = Draws(key, self.name), words()
        kinds = draws.distinct(min(2 * isqrt(self.n) + 2, NUM_WORDS), NUM_WORDS)
        text = [known[kinds[draws.below(len(kinds))]] for _ in range(self.n)]
        place = draws.below(self.n - self.c + 1)
        gram = text[place : place + self.c - 1]
        first = next(i for i in range(place + 1) if text[i : i + self.c - 1] == gram)
        answer = text[first + self.c - 1]
        return TextExample(
            context=" ".join(text) + "\n",
            question=asked(f"Which word follows {' '.join(gram)}?"),
            answers=(answer,),
            trace=searched([Ask(Word(" ".join(gram)), answer)], [answer]),
        )
