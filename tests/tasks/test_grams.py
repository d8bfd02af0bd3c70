from collections import Counter

import numpy as np
import pytest

from recherche.tasks.grams import draw_grams, ends_with

KEYS = np.arange(400, dtype=np.uint64)


def first_occurrence(tokens: list[int], gram: list[int]) -> int:
    return next(i for i in range(len(tokens)) if tokens[i : i + len(gram)] == gram)


def test_a_list_ends_with_a_gram_or_not():
    tokens, gram = np.array([1, 2, 1, 2]), np.array([1, 2])
    assert [ends_with(tokens, end, gram) for end in range(5)] == [False, False, True, False, True]


@pytest.mark.parametrize(
    ("n", "n_symbols", "gram_length", "after"), [(6, 2, 1, 1), (7, 2, 2, 1), (8, 3, 2, 3), (5, 5, 0, 5), (4, 2, 3, 1)]
)
def test_the_gram_stands_first_at_its_place(n, n_symbols, gram_length, after):
    tokens, places = draw_grams(KEYS, n, n_symbols, gram_length, after)
    for row, place in zip(tokens.tolist(), places.tolist(), strict=True):
        assert first_occurrence(row, row[place : place + gram_length]) == place
    assert set(places.tolist()) == set(range(n - gram_length - after + 1))
    assert set(np.unique(tokens)) == set(range(1, n_symbols + 1))


def test_the_token_after_the_gram_does_not_depend_on_it():
    tokens, places = draw_grams(np.arange(4000, dtype=np.uint64), 5, 2, 1, 1)
    rows = np.arange(len(tokens))
    pairs = Counter(zip(tokens[rows, places].tolist(), tokens[rows, places + 1].tolist(), strict=True))
    assert max(abs(count - 1000) for count in pairs.values()) < 120
