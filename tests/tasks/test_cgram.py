from math import log2

import pytest

from recherche import queries
from recherche.errors import ConfigError
from recherche.tasks.cgram import CGram


@pytest.mark.parametrize(("n", "c", "n_numbers"), [(3, 3, 2), (6, 2, 2), (9, 3, 3), (16, 4, 16)])
def test_the_answer_follows_the_first_occurrence(n, c, n_numbers):
    task = CGram(n=n, c=c, n_numbers=n_numbers)
    for key in range(60):
        example = task.example(key)
        text = " ".join(example.prompt[1 : n + 1]) + " "
        gram = " ".join(example.prompt[n + 1 :]) + " "
        before, found, after = f" {text}".partition(f" {gram}")
        assert found, (before, text, gram)
        assert after.split()[0] == example.answer


@pytest.mark.parametrize(
    ("n", "c", "n_numbers", "bits"),
    [(16, 2, 16, 8 * log2(8)), (12, 3, 2, 0.0), (12, 3, 4, 4 * log2(2)), (64, 3, 64, 21 * log2(59))],
)
def test_the_bound_is_that_of_the_best_blocks(n, c, n_numbers, bits):
    assert CGram(n=n, c=c, n_numbers=n_numbers).lower_bound_bits == pytest.approx(bits)


def test_a_gram_is_asked_for():
    task = CGram(n=8, c=3)
    assert task.read_query(("4", "5")) == queries.CGram(("4", "5"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"c": 1}, "a gram and a token after it, got c = 1"),
        ({"n": 2, "c": 3}, "at least c = 3 tokens, got n = 2"),
        ({"n_numbers": 1}, "at least 2 different tokens, got 1"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        CGram(**options)
