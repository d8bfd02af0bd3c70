"""Where a key stands in a text: the k-th place from the start, the last one, the next one after a place.

Every place counts, also one that overlaps the one before: `aa` stands twice in `aaa`.
"""

from dataclasses import dataclass
from typing import final

from recherche.retrieval.charset import is_word
from recherche.text_queries import Which

_LONGEST_CHARACTER = 4


@final
@dataclass(frozen=True, slots=True)
class Key:
    """Bytes to be found; where `left` or `right` is set, no word character may stand directly before or after."""

    data: bytes
    left: bool = False
    right: bool = False

    @classmethod
    def whole(cls, text: str) -> "Key":
        """A key as the queries in plain words mean it: no part of a longer word."""
        return cls(text.encode(), is_word(text[0]), is_word(text[-1]))

    def stands_at(self, data: bytearray, at: int) -> bool:
        """Whether the key, whose bytes are at `at`, is there as a whole."""
        end = at + len(self.data)
        return not (
            (self.left and ends_in_word(data[max(0, at - _LONGEST_CHARACTER) : at]))
            or (self.right and begins_with_word(data[end : end + _LONGEST_CHARACTER]))
        )


def ends_in_word(data: bytes | bytearray) -> bool:
    """Whether the last character is a word character; the first may be cut."""
    return is_word(data.decode(errors="ignore")[-1:])


def begins_with_word(data: bytes | bytearray) -> bool:
    """Whether the first character is a word character; the last may be cut."""
    return is_word(data.decode(errors="ignore")[:1])


def next_place(data: bytearray, key: Key, begin: int, end: int | None = None) -> int | None:
    """The first place of the key at or after byte `begin` that ends by byte `end`."""
    at = data.find(key.data, begin, end)
    while at >= 0 and not key.stands_at(data, at):
        at = data.find(key.data, at + 1, end)
    return at if at >= 0 else None


def last_place(data: bytearray, key: Key, end: int | None = None) -> int | None:
    """The last place of the key that ends by byte `end`."""
    at = data.rfind(key.data, 0, end)
    while at >= 0 and not key.stands_at(data, at):
        at = data.rfind(key.data, 0, at + len(key.data) - 1)
    return at if at >= 0 else None


def place_of(data: bytearray, key: Key, which: Which) -> int | None:
    """The k-th place of the key, or the last one."""
    if which == "last":
        return last_place(data, key)
    at = next_place(data, key, 0)
    for _ in range(which - 1):
        if at is None:
            return None
        at = next_place(data, key, at + 1)
    return at
