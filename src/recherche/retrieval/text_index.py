"""An index of the bytes of a growing text, for exact search: the places of each block, sorted by what stands there.

A block is 32,768 places, sorted by a hash of the three bytes at each, ten bits for the first two and four for the
third; a table says where each hash begins. A key is looked up by the rarest three bytes in it, or by its two. Blocks
are never changed, so a text that grows adds blocks, and what comes after the last full one is not indexed.

Reference: Zobel & Moffat (2006), Inverted Files for Text Search Engines, https://doi.org/10.1145/1132956.1132959
"""

from typing import final

import numpy as np
from jaxtyping import Int64, UInt8, UInt16

BLOCK = 1 << 15
WIDTH = 3
SHORTEST = 2
"""Bytes at each place that are hashed, and bytes of the shortest key that can be looked up."""

_PAIR_BITS, _THIRD_BITS = 10, 4
_HASHES = 1 << (_PAIR_BITS + _THIRD_BITS)
_FACTORS = tuple(map(np.uint16, (40503, 10007, 52711)))
_FEWEST_BLOCKS = 8


def hashes(data: UInt8[np.ndarray, " n"]) -> UInt16[np.ndarray, " n-2"]:
    """A number below 2^14 for each three bytes in a row; the first two decide all of it but the last four bits."""
    wide = data.astype(np.uint16)
    first, second, third = _FACTORS
    pairs = (wide[:-2] * first + wide[1:-1] * second) >> np.uint16(16 - _PAIR_BITS)
    return (pairs << np.uint16(_THIRD_BITS)) | ((wide[2:] * third) >> np.uint16(16 - _THIRD_BITS))


@final
class TextIndex:
    """Places by hash, block by block."""

    __slots__ = ("_counts", "_is_shared", "_places", "_starts", "n_blocks")

    def __init__(self) -> None:
        self.n_blocks = 0
        self._is_shared = False
        self._places = np.empty((0, BLOCK), np.uint16)
        self._starts = np.empty((0, _HASHES + 1), np.uint16)
        self._counts = np.zeros(_HASHES, np.int64)

    @property
    def end(self) -> int:
        """The first byte that is not indexed."""
        return self.n_blocks * BLOCK

    def fork(self) -> "TextIndex":
        """The same blocks, which grow on their own."""
        twin = TextIndex()
        twin.n_blocks, twin._places, twin._starts = self.n_blocks, self._places, self._starts
        twin._counts = self._counts.copy()
        self._is_shared = twin._is_shared = True
        return twin

    def grow(self, data: bytearray, settled: int) -> None:
        """Add the blocks that `data` fills up to byte `settled`, before which it has only grown."""
        wanted = max(0, settled - WIDTH + 1) // BLOCK
        if wanted < _FEWEST_BLOCKS or wanted == self.n_blocks:
            return
        self._make_room(wanted)
        view = np.frombuffer(data, np.uint8)
        for block in range(self.n_blocks, wanted):
            hashed = hashes(view[block * BLOCK : (block + 1) * BLOCK + WIDTH - 1])
            self._places[block] = np.argsort(hashed, kind="stable")
            counts = np.bincount(hashed, minlength=_HASHES)
            self._starts[block, 0] = 0
            self._starts[block, 1:] = np.cumsum(counts)
            self._counts += counts
        self.n_blocks = wanted

    def _make_room(self, wanted: int) -> None:
        if self._is_shared or wanted > len(self._places):
            room = max(wanted, self.n_blocks * 3 // 2)
            for name in ("_places", "_starts"):
                old = getattr(self, name)
                new = np.empty((room, old.shape[1]), np.uint16)
                new[: self.n_blocks] = old[: self.n_blocks]
                setattr(self, name, new)
            self._is_shared = False

    def rarest(self, key: bytes) -> tuple[int, range, int]:
        """(where in the key the bytes stand that are looked up, their possible hashes, how many places have them)."""
        if len(key) < WIDTH:
            first = int(hashes(np.frombuffer(key + b"\0", np.uint8))[0]) >> _THIRD_BITS << _THIRD_BITS
            hashed = range(first, first + (1 << _THIRD_BITS))
            return 0, hashed, int(self._counts[hashed.start : hashed.stop].sum())
        columns = hashes(np.frombuffer(key, np.uint8)).astype(np.int64)
        counts = self._counts[columns]
        best = int(counts.argmin())
        return best, range(int(columns[best]), int(columns[best]) + 1), int(counts[best])

    def places(self, hashed: range, blocks: range) -> Int64[np.ndarray, " places"]:
        """The places with one of these hashes in a run of blocks, in their order; some others may be among them."""
        rows = np.arange(blocks.start, blocks.stop)
        starts = self._starts[blocks.start : blocks.stop, hashed.start].astype(np.int64)
        counts = self._starts[blocks.start : blocks.stop, hashed.stop] - starts
        of_row = np.repeat(rows, counts)
        within = np.arange(len(of_row)) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        places = self._places[of_row, within] + of_row * BLOCK
        return places if len(hashed) == 1 else np.sort(places)
