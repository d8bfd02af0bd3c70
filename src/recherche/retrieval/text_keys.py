"""Where a key stands in a text: the k-th place from the start, the last one, the next one after a place.

Every place counts, also one that overlaps the one before: `aa` stands twice in `aaa`. Places are found a stretch of the
text at a time, by the index where there is one, and by looking through the bytes where there is none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Int64

from recherche.retrieval.charset import is_word
from recherche.retrieval.searched_bytes import AbstractSearchedBytes
from recherche.retrieval.text_index import BLOCK, SHORTEST, TextIndex
from recherche.text_queries import Which

_LONGEST_CHARACTER = 4
_FIRST_STRETCH = 1 << 16
_MOST_ONE_BY_ONE = 64
_PLACES_AT_ONCE = 1 << 11
_GROWTH = 4
_BYTES_AT_ONCE = 16
_ASCII_WORDS = np.array([code < 128 and is_word(chr(code)) for code in range(256)])

Places = Int64[np.ndarray, " _"]


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


@final
class KeyFinder:
    """Finds keys in bytes as they now are."""

    __slots__ = ("_index", "data")

    def __init__(self, searched: AbstractSearchedBytes, index: TextIndex) -> None:
        index.grow(searched.data, searched.settled)
        self.data = searched.data
        self._index = index

    def next(self, key: Key, begin: int) -> int | None:
        """The first place of the key at or after byte `begin`."""
        return next((int(places[0]) for places in self._forward(key, begin) if len(places)), None)

    def last(self, key: Key, end: int | None = None) -> int | None:
        """The last place of the key that ends by byte `end`."""
        end = len(self.data) if end is None else end
        return next((int(places[-1]) for places in self._backward(key, end) if len(places)), None)

    def place(self, key: Key, which: Which) -> int | None:
        """The k-th place of the key, or the last one."""
        if which == "last":
            return self.last(key)
        before = 0
        for places in self._forward(key, 0):
            if which <= before + len(places):
                return int(places[which - 1 - before])
            before += len(places)
        return None

    def _forward(self, key: Key, begin: int) -> Iterator[Places]:
        """The places at or after byte `begin`, stretch by stretch."""
        end = len(self.data)
        if self._is_indexed(key):
            offset, hashed, count = self._index.rarest(key.data)
            block, count = (begin + offset) // BLOCK, self._first_blocks(count)
            while block < self._index.n_blocks:
                blocks = range(block, min(block + count, self._index.n_blocks))
                places = self._index.places(hashed, blocks) - offset
                yield self._checked(key, places[(places >= begin) & (places <= end - len(key.data))])
                block, count = blocks.stop, count * _GROWTH
            begin = max(begin, self._index.end - offset)
        size = _FIRST_STRETCH
        while begin < end:
            yield self._looked_through(key, begin, min(end, begin + size + len(key.data) - 1))
            begin, size = begin + size, size * _GROWTH

    def _backward(self, key: Key, end: int) -> Iterator[Places]:
        """The places that end by byte `end`, stretch by stretch from the last one."""
        offset, hashed, count, first, block = 0, range(0), 0, 0, 0
        if self._is_indexed(key):
            offset, hashed, count = self._index.rarest(key.data)
            first = max(0, self._index.end - offset)
            block = min(self._index.n_blocks, (end + offset) // BLOCK + 1)
        size, past = _FIRST_STRETCH, end
        while past > first:
            begin = max(first, past - size)
            yield self._looked_through(key, begin, min(end, past + len(key.data) - 1))
            past, size = begin, size * _GROWTH
        count = self._first_blocks(count)
        while block > 0:
            blocks = range(max(0, block - count), block)
            places = self._index.places(hashed, blocks) - offset
            yield self._checked(key, places[(places >= 0) & (places <= end - len(key.data))])
            block, count = blocks.start, count * _GROWTH

    def _first_blocks(self, count: int) -> int:
        """How many blocks to begin with, where all of them have `count` places."""
        return 1 + self._index.n_blocks * _PLACES_AT_ONCE // (count + 1)

    def _is_indexed(self, key: Key) -> bool:
        return len(key.data) >= SHORTEST and self._index.n_blocks > 0

    def _looked_through(self, key: Key, begin: int, end: int) -> Places:
        """The places of the key between two bytes, without the index."""
        data, found = self.data, list[int]()
        at = data.find(key.data, begin, end)
        while at >= 0 and len(found) < _MOST_ONE_BY_ONE:
            found.append(at)
            at = data.find(key.data, at + 1, end)
        places = np.array(found, np.int64)
        if at >= 0:
            view = np.frombuffer(data, np.uint8)
            rest = np.flatnonzero(view[at : end - len(key.data) + 1] == key.data[0]) + at
            return np.concatenate([self._standing(key, places), self._checked(key, rest)])
        return self._standing(key, places)

    def _checked(self, key: Key, places: Places) -> Places:
        """Those places where all bytes of the key stand, as a whole."""
        view = np.frombuffer(self.data, np.uint8)
        size = len(key.data)
        for offset in range(0, size, 1 + size // _BYTES_AT_ONCE):
            if len(places) <= _MOST_ONE_BY_ONE:
                break
            places = places[view[places + offset] == key.data[offset]]
        if len(places) <= _MOST_ONE_BY_ONE or size >= _BYTES_AT_ONCE:
            places = np.array([at for at in places.tolist() if self.data.startswith(key.data, at)], np.int64)
        return self._standing(key, places)

    def _standing(self, key: Key, places: Places) -> Places:
        """Those places of the key's bytes that have no word character directly beside them, where it matters."""
        if len(places) <= _MOST_ONE_BY_ONE:
            return np.array([at for at in places.tolist() if self._stands(key, at)], np.int64)
        if key.left:
            places = places[~self._are_words(places, -1)]
        if key.right and len(places):
            places = places[~self._are_words(places + len(key.data), 1)]
        return places

    def _stands(self, key: Key, at: int) -> bool:
        before = key.left and is_word(self._beside(at, -1))
        return not before and not (key.right and is_word(self._beside(at + len(key.data), 1)))

    def _are_words(self, borders: Places, side: int) -> Bool[np.ndarray, " _"]:
        """Whether a word character stands directly before (side -1) or after (side 1) each border."""
        view = np.frombuffer(self.data, np.uint8)
        at = borders - (side < 0)
        # The borders are sorted, so only the first and the last may have nothing beside them.
        first, past = int(at[0] < 0), len(at) - int(at[-1] >= len(view))
        codes = np.zeros(len(at), np.uint8)
        codes[first:past] = view[at[first:past]]
        words = _ASCII_WORDS[codes]
        for row in np.flatnonzero(codes >= 128).tolist():
            border = int(borders[row])
            words[row] = is_word(self._beside(border, side))
        return words

    def _beside(self, border: int, side: int) -> str:
        if side < 0:
            before = self.data[max(0, border - _LONGEST_CHARACTER) : border]
            return before.decode(errors="ignore")[-1:]
        return self.data[border : border + _LONGEST_CHARACTER].decode(errors="ignore")[:1]
