"""What a task draws from its key: integers, distinct integers, an order; the same on every machine.

>>> Draws(7, "phonebook").distinct(3, 1000) == Draws(7, "phonebook").distinct(3, 1000)
True
"""

from collections.abc import Iterable
from typing import TypeVar, final
from zlib import crc32

import numpy as np

from recherche.kernels.random import below, stream

Thing = TypeVar("Thing")


@final
class Draws:
    """The stream of random numbers that a task has for a 64-bit key."""

    def __init__(self, key: int, purpose: str) -> None:
        """Start the stream.

        Args:
            purpose: two purposes of the same key share no randomness.
        """
        self._state = stream(np.uint64(key), crc32(purpose.encode()))

    def below(self, bound: int) -> int:
        """A uniform integer in 0..bound-1."""
        return int(below(self._state, bound))

    def distinct(self, count: int, bound: int) -> list[int]:
        """`count` different integers in 0..bound-1, each arrangement equally likely; `count` is at most `bound`."""
        assert count <= bound
        found: dict[int, None] = {}
        while len(found) < count:
            found[self.below(bound)] = None
        return list(found)

    def shuffled(self, things: Iterable[Thing]) -> list[Thing]:
        """The same things in a uniformly random order."""
        order = list(things)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def digits(self, count: int) -> str:
        """A number of `count` digits, the first of which is not 0."""
        return str(10 ** (count - 1) + self.below(9 * 10 ** (count - 1)))
