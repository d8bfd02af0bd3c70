"""Multi-query associative recall in words: n lines that pair two words; what belongs to each of several words?

    harbor -> amber
    quiet -> stone

    Question: Which words belong to quiet and harbor?
    Answer: stone, amber

Reference: Arora et al. (2023), Zoology, https://arxiv.org/abs/2312.04927
"""

from dataclasses import dataclass
from math import lgamma, log, log2
from typing import ClassVar, final

from recherche.text_queries import After
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, listed, searched
from recherche.texts.draws import Draws
from recherche.texts.names import NUM_WORDS, words

MAX_QUERIES = 1000


@final
@dataclass(frozen=True, kw_only=True)
class MQARWords(AbstractTextTask):
    """The words that belong to several words.

    Attributes:
        n: pairs; no word is the first of two of them.
        queries: words that are asked for.
    """

    name: ClassVar[str] = "mqar"
    counted: ClassVar[str] = "pairs"
    largest: ClassVar[int] = NUM_WORDS
    queries: int = 4

    def __post_init__(self) -> None:
        self.require_between("queries", 1, MAX_QUERIES)
        super().__post_init__()

    @property
    def least(self) -> int:
        """A pair for each question."""
        return self.queries

    @property
    def lower_bound_bits(self) -> float:
        """log2 of the number of lists of n different words; of sets of n where all are asked for at once.

        Let two texts with the same keys agree on every question. Two questions that differ in one key have answers
        that differ in its word alone, since the words of a text differ; so each key has the same word in both texts.
        """
        lists = sum(log2(NUM_WORDS - taken) for taken in range(self.n))
        return lists if self.queries < self.n else lists - lgamma(self.n + 1) / log(2)

    def example(self, key: int) -> TextExample:
        """n pairs, and the keys of some of them in random order."""
        known = words()
        keys, values = (
            [known[index] for index in Draws(key, f"{self.name} {side}").distinct(self.n, NUM_WORDS)]
            for side in ("keys", "values")
        )
        wanted = Draws(key, f"{self.name} question").distinct(self.queries, self.n)
        answers = [values[i] for i in wanted]
        return TextExample(
            context="".join(f"{left} -> {right}\n" for left, right in zip(keys, values, strict=True)),
            question=asked(f"Which words belong to {listed([keys[i] for i in wanted])}?"),
            answers=tuple(answers),
            trace=searched([Ask(After(f"{keys[i]} ->"), values[i]) for i in wanted], answers),
        )
