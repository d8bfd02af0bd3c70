"""The characters beyond ASCII that a text holds, which is what classes of characters are spelled over."""

from collections.abc import Collection
from typing import final

from recherche.retrieval.charset import is_word

_ASCII = bytes(range(0x80))


@final
class Alphabet:
    """A set of characters beyond ASCII that does not change.

    Attributes:
        beyond: the characters, sorted.
        words: those of them that are word characters.
    """

    __slots__ = ("beyond", "words")

    def __init__(self, characters: Collection[str]) -> None:
        self.beyond = tuple(sorted(characters))
        self.words = frozenset(filter(is_word, self.beyond))


def beyond_ascii(data: bytes | bytearray) -> set[str]:
    """The characters beyond ASCII in whole characters of UTF-8."""
    return set(data.translate(None, _ASCII).decode())
