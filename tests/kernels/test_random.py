from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from recherche.kernels import random

WORD = 2**64


def slow_splitmix64(counter: int) -> int:
    word = counter % WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def test_words_are_those_of_the_published_generator():
    state = np.array([1234567], dtype=np.uint64)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [int(random.next_word(state)) for _ in published] == published


def test_the_i_th_word_is_a_function_of_key_purpose_and_i():
    state = random.stream(np.uint64(7), 3)
    start = slow_splitmix64(slow_splitmix64(7) + 3)
    got = [int(random.next_word(state)) for _ in range(5)]
    assert got == [slow_splitmix64(start + i * 0x9E3779B97F4A7C15) for i in range(1, 6)]


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1024])
def test_below_stays_in_range_and_reaches_every_value(bound):
    state = random.stream(np.uint64(1), 0)
    drawn = {random.below(state, bound) for _ in range(20 * bound)}
    assert min(drawn) == 0
    assert max(drawn) == bound - 1


def test_below_refuses_words_that_would_favour_small_remainders():
    bound = 2**63 - 1
    refused = WORD % bound
    assert refused == 2
    preimage_of_zero = np.array([(-0x9E3779B97F4A7C15) % WORD], dtype=np.uint64)
    assert int(random.next_word(preimage_of_zero.copy())) == 0
    assert random.below(preimage_of_zero.copy(), bound) == slow_splitmix64(0x9E3779B97F4A7C15) % bound


def test_all_orders_of_three_are_equally_likely():
    state = random.stream(np.uint64(5), 0)
    counts = Counter(tuple(random.permutation(state, 3).tolist()) for _ in range(6000))
    assert set(counts) == set(permutations(range(3)))
    assert max(abs(count - 1000) for count in counts.values()) < 150


def test_shuffle_keeps_the_values():
    values = np.array([4, 4, 9, 1, 0], dtype=np.int64)
    random.shuffle(random.stream(np.uint64(2), 0), values)
    assert sorted(values.tolist()) == [0, 1, 4, 4, 9]
