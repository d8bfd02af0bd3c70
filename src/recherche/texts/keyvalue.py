"""Key-value retrieval: n lines with two UUIDs each; which one belongs to a given one?

    6f2b9c1e-...: 0d7e4a55-...

    Question: What is the value of 6f2b9c1e-...?
    Answer: 0d7e4a55-...

Reference: Liu et al. (2023), Lost in the Middle, https://arxiv.org/abs/2307.03172
"""

from dataclasses import dataclass
from typing import ClassVar, final
from uuid import UUID

from recherche.text_queries import After
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, searched
from recherche.texts.draws import Draws

RANDOM_BITS = 122
"""Bits of a random UUID; the other six say that it is one."""


@final
@dataclass(frozen=True, kw_only=True)
class KeyValue(AbstractTextTask):
    """The UUID that belongs to a UUID.

    Attributes:
        n: pairs in the text.
    """

    name: ClassVar[str] = "keyvalue"
    counted: ClassVar[str] = "pairs"

    @property
    def lower_bound_bits(self) -> float:
        """122 n: after the text the value of any key may be asked for, and a random UUID has 122 free bits."""
        return float(RANDOM_BITS * self.n)

    def example(self, key: int) -> TextExample:
        """n pairs, and the key of one of them."""
        draws = Draws(key, self.name)
        pairs = [(_uuid(draws), _uuid(draws)) for _ in range(self.n)]
        wanted, value = pairs[draws.below(self.n)]
        return TextExample(
            context="".join(f"{left}: {right}\n" for left, right in pairs),
            question=asked(f"What is the value of {wanted}?"),
            answers=(value,),
            trace=searched([Ask(After(f"{wanted}:"), value)], [value]),
        )


def _uuid(draws: Draws) -> str:
    """A random UUID; two are equal with probability 2^-122."""
    bits = sum(draws.below(2**32) << shift for shift in (0, 32, 64, 96))
    return str(UUID(int=bits, version=4))
