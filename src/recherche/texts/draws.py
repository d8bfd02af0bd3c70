"""What a task draws from its key: integers, distinct integers, an order; the same on every machine.

>>> Draws(7, "phonebook").distinct(3, 1000) == Draws(7, "phonebook").distinct(3, 1000)
True
"""

from collections.abc import Iterable
from typing import TypeVar, final
from zlib import crc32

import numpy as np
from jaxtyping import Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, permutation, stream

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
        """`count` different integers in 0..bound-1, each arrangement equally likely; `count` is at most `bound`.

        A greater count begins with the integers of a smaller one.
        """
        assert count <= bound
        return [int(number) for number in distinct(self._state, count, bound)]

    def shuffled(self, things: Iterable[Thing]) -> list[Thing]:
        """The same things in a uniformly random order."""
        known = list(things)
        return [known[place] for place in permutation(self._state, len(known))]

    def digits(self, count: int) -> str:
        """A number of `count` digits, the first of which is not 0."""
        return str(10 ** (count - 1) + self.below(9 * 10 ** (count - 1)))


@compiled
def distinct(state: UInt64[np.ndarray, "1"], count: int, bound: int) -> Int64[np.ndarray, " c"]:
    """`count` different integers in 0..bound-1: those that have been drawn already are drawn again."""
    seen = np.zeros(bound, np.bool_)
    numbers = np.empty(count, np.int64)
    for i in range(count):
        number = below(state, bound)
        while seen[number]:
            number = below(state, bound)
        seen[number] = True
        numbers[i] = number
    return numbers
