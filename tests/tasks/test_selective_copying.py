import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.tasks.selective_copying import SelectiveCopying


def test_the_copy_is_the_text_without_noise():
    task = SelectiveCopying(n=9, num_marked=3, n_numbers=4)
    for key in range(60):
        example = task.example(key)
        text, copy = example.prompt[1:10], (*example.prompt[11:], example.answer)
        assert tuple(token for token in text if token != "-") == copy
        assert text.count("-") == 6


def test_every_copied_token_counts_and_no_other():
    batch = SelectiveCopying(n=5, num_marked=2).batch(np.arange(4, dtype=np.uint64))
    assert batch.loss_mask.tolist() == [[False] * 7 + [True] * 2] * 4


def test_the_bound_does_not_depend_on_the_noise():
    assert SelectiveCopying(n=9).lower_bound_bits == SelectiveCopying(n=900).lower_bound_bits == 16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 3, "num_marked": 4}, "1 <= num_marked <= n, got 4 of n = 3"),
        ({"num_marked": 0}, "got 0 of"),
        ({"n_numbers": 1}, "at least 2 different tokens, got 1"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        SelectiveCopying(**options)
