"""Random integers inside compiled loops: SplitMix64, one stream for each 64-bit key.

The i-th number of a stream is mix(start + i * gamma): a counter put through a bijection of 64-bit words. So the rows of
a batch need no common generator, and integer arithmetic alone gives the same numbers on every machine.

    state   array of one word, the counter; advanced in place
    gamma   0x9E3779B97F4A7C15, the odd number nearest to 2^64 / golden ratio

Reference: Steele, Lea & Flood (2014), Fast Splittable Pseudorandom Number Generators, Section 4,
https://doi.org/10.1145/2714064.2660195
"""

import numpy as np
from jaxtyping import Int64, Shaped, UInt64

from recherche.kernels.compiled import compiled

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)


@compiled
def mix(word: np.uint64) -> np.uint64:
    """A bijection of 64-bit words in which each input bit flips about half of the output bits."""
    word = (word ^ (word >> np.uint64(30))) * MULTIPLIER_1
    word = (word ^ (word >> np.uint64(27))) * MULTIPLIER_2
    return word ^ (word >> np.uint64(31))


@compiled
def stream(key: np.uint64, purpose: int) -> UInt64[np.ndarray, "1"]:
    """The state at the start of the stream that `key` has for `purpose`; two purposes share no randomness."""
    state = np.empty(1, np.uint64)
    state[0] = mix(mix(key) + np.uint64(purpose))
    return state


@compiled
def next_word(state: UInt64[np.ndarray, "1"]) -> np.uint64:
    """The next 64 random bits."""
    state[0] += GAMMA
    return mix(state[0])


@compiled
def below(state: UInt64[np.ndarray, "1"], bound: int) -> int:
    """A uniform integer in 0..bound-1.

    The first 2^64 mod bound words are refused, so that each remainder has equally many words.
    """
    divisor = np.uint64(bound)
    refused = (np.uint64(0) - divisor) % divisor
    word = next_word(state)
    while word < refused:
        word = next_word(state)
    return int(word % divisor)


@compiled
def shuffle(state: UInt64[np.ndarray, "1"], values: Shaped[np.ndarray, " n"]) -> None:
    """Put `values` in a uniformly random order, in place (Fisher-Yates)."""
    for i in range(len(values) - 1, 0, -1):
        j = below(state, i + 1)
        held = values[i]
        values[i] = values[j]
        values[j] = held


@compiled
def permutation(state: UInt64[np.ndarray, "1"], n: int) -> Int64[np.ndarray, " n"]:
    """The numbers 0..n-1 in a uniformly random order."""
    order = np.arange(n)
    shuffle(state, order)
    return order
