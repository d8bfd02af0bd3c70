from math import log2

import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.queries import AR
from recherche.tasks import mqar
from recherche.tasks.mqar import MQAR

TASK = MQAR(n=24, num_pairs=3, n_keys=5, n_values=4, n_fillers=3, exponent_percent=50)


def text_of(key: int) -> list[int]:
    example = TASK.example(key)
    return [int(token) for token in (*example.prompt[1:], example.answer)]


def test_fillers_are_never_keys_or_values():
    for key in range(200):
        text = text_of(key)
        pairs = dict(zip(text[0:6:2], text[1:6:2], strict=True))
        assert len(pairs) == 3
        assert set(pairs) <= {1, 2, 3, 4, 5}
        assert set(pairs.values()) <= {6, 7, 8, 9}
        slots = list(zip(text[6::2], text[7::2], strict=True))
        assert all((a, b) in pairs.items() or min(a, b) >= 10 for a, b in slots)


def test_every_key_is_asked_for_once_and_all_answers_count():
    batch = TASK.batch(np.arange(100, dtype=np.uint64))
    for row, key in enumerate(batch.keys.tolist()):
        text = [0, *text_of(key)]
        counted = np.flatnonzero(batch.loss_mask[row]).tolist()
        pairs = dict(zip(text[1:7:2], text[2:7:2], strict=True))
        assert sorted(text[place - 1] for place in counted) == sorted(pairs)
        assert all(pairs[text[place - 1]] == text[place] for place in counted)
        assert counted[-1] == batch.lengths[row] - 1


def test_slots_are_drawn_by_their_weights_and_without_replacement():
    state = np.array([1], dtype=np.uint64)
    weights = np.array([4, 2, 1, 1])
    single = sum(mqar.draw_slots(state, weights, 1) for _ in range(4000))
    assert np.abs(single / 500 - weights).max() < 0.3
    assert mqar.draw_slots(state, weights, 4).tolist() == [1, 1, 1, 1]


def test_weights_follow_the_power_law():
    assert mqar.slot_weights(3, 100).tolist() == [2**32] * 3
    assert mqar.slot_weights(4, 50)[3] == 2**31
    assert mqar.slot_weights(2000, 1).min() >= 1


def test_small_exponents_ask_early():
    def mean_length(percent: int) -> float:
        task = MQAR(n=64, num_pairs=4, exponent_percent=percent)
        return float(task.batch(np.arange(500, dtype=np.uint64)).lengths.mean())

    assert mean_length(1) < mean_length(100) - 5


def test_the_bound_counts_values():
    assert TASK.lower_bound_bits == 3 * log2(4)


def test_a_key_is_asked_for():
    assert TASK.read_query(("4",)) == AR("4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 9}, "an even number of tokens, got n = 9"),
        ({"num_pairs": 0}, "at least one pair, got num_pairs = 0"),
        ({"n": 2}, "got n = 2 for 1 pairs; use n >= 4"),
        ({"n": 16, "num_pairs": 5}, "got n = 16 for 5 pairs; use n >= 20"),
        ({"exponent_percent": 0}, "lies in 1..100 percent, got 0"),
        ({"exponent_percent": -5}, "lies in 1..100 percent, got -5"),
        ({"n": 32, "n_keys": 3}, "a key for each of its 4 pairs, .* got n_keys = 3, n_values = 32, n_fillers = 32"),
        ({"n": 16, "n_fillers": 0}, "n_fillers = 0; enlarge the vocabulary"),
        ({"n": 16, "n_values": 1}, "2 values"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        MQAR(**options)
