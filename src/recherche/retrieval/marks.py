"""How many of something stand before a byte of a text that grows: one mark for every few thousand bytes."""

from bisect import bisect_left
from collections.abc import Callable
from typing import final

_BLOCK = 4096


@final
class Marks:
    """Counts up to each block; made as far as they are asked for.

    Args:
        count: how many there are in a stretch of bytes; a stretch counts as its parts together.
    """

    __slots__ = ("_count", "_totals")

    def __init__(self, count: Callable[[bytes | bytearray], int]) -> None:
        self._count = count
        self._totals = [0]

    def fork(self) -> "Marks":
        """The same marks, which grow on their own."""
        twin = Marks(self._count)
        twin._totals = self._totals.copy()
        return twin

    def before(self, data: bytearray, at: int) -> int:
        """How many stand before byte `at`."""
        row = self._marked(data, at)
        return self._totals[row] + self._count(data[row * _BLOCK : at])

    def stretch_with_last(self, data: bytearray, at: int) -> tuple[int, int]:
        """A stretch of bytes before `at` that holds the last of them, if there is one."""
        row = self._marked(data, at)
        if self._count(data[row * _BLOCK : at]) or not self._totals[row]:
            return row * _BLOCK, at
        row = bisect_left(self._totals, self._totals[row], 0, row) - 1
        return row * _BLOCK, (row + 1) * _BLOCK

    def forget(self, at: int) -> None:
        """Say that the bytes from `at` on have changed."""
        del self._totals[at // _BLOCK + 1 :]

    def _marked(self, data: bytearray, at: int) -> int:
        """The block that holds byte `at`, with marks up to it."""
        row = at // _BLOCK
        while len(self._totals) <= row:
            begin = (len(self._totals) - 1) * _BLOCK
            self._totals.append(self._totals[-1] + self._count(data[begin : begin + _BLOCK]))
        return row
