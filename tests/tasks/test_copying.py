from math import log2

import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.tasks.copying import Copying


@pytest.mark.parametrize(("gram", "span"), [(0, 9), (1, 3), (2, 1), (2, 7)])
def test_the_copy_continues_the_first_occurrence_of_its_gram(gram, span):
    task = Copying(n=9, gram=gram, span=span, n_numbers=3)
    for key in range(80):
        example = task.example(key)
        text, copy = example.prompt[1:10], (*example.prompt[11:], example.answer)
        starts = [i for i in range(9) if text[i : i + gram] == copy[:gram]]
        assert text[starts[0] : starts[0] + gram + span] == copy


def test_every_copied_token_counts_and_the_gram_does_not():
    task = Copying(n=6, gram=2, span=3)
    batch = task.batch(np.arange(5, dtype=np.uint64))
    assert batch.loss_mask.tolist() == [[False] * 10 + [True] * 3] * 5


def test_half_of_the_rest_is_copied_unless_told_otherwise():
    assert Copying(n=9).num_copied == 9
    assert Copying(n=9, gram=2).num_copied == 3
    assert Copying(n=3, gram=2).num_copied == 1


def test_the_bound_counts_lists_or_blocks():
    assert Copying(n=8, n_numbers=4).lower_bound_bits == 16
    assert Copying(n=16, gram=1, span=1, n_numbers=16).lower_bound_bits == pytest.approx(8 * log2(8))
    assert Copying(n=16, gram=1, span=9, n_numbers=16).lower_bound_bits == pytest.approx(4 * log2(12))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gram": -1}, "no or some tokens, got gram = -1"),
        ({"gram": 1, "span": 0}, "something to copy, got span = 0"),
        ({"n": 4, "gram": 2, "span": 3}, r"got 2 \+ 3 tokens in a list of 4"),
        ({"n": 4, "span": 3}, "copies the whole list; leave span out"),
        ({"n_numbers": 1}, "at least 2 different tokens, got 1"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Copying(**options)
