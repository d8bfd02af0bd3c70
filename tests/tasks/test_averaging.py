from fractions import Fraction
from itertools import combinations, product
from math import log2

import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.tasks.averaging import Averaging, sum_distribution, tally


@pytest.mark.parametrize(("q", "n_values"), [(1, 2), (2, 3), (3, 4)])
def test_sums_have_the_probabilities_of_all_cases(q, n_values):
    sums = [sum(case) for case in product(range(1, n_values + 1), repeat=q)]
    expected = [Fraction(sums.count(total), len(sums)) for total in range(q, q * n_values + 1)]
    assert sum_distribution(q, n_values) == expected


@pytest.mark.parametrize(("n", "q", "n_values"), [(3, 1, 2), (3, 2, 3), (4, 3, 2), (4, 4, 2), (3, 3, 3)])
def test_the_bound_counts_what_questions_tell_apart(n, q, n_values):
    answers = {
        tuple(sum(choice) for choice in combinations(numbers, q)) for numbers in product(range(n_values), repeat=n)
    }
    assert Averaging(n=n, q=q, n_values=n_values).lower_bound_bits == pytest.approx(log2(len(answers)))


def test_positions_differ_and_increase_and_all_are_asked():
    task = Averaging(n=5, q=3)
    positions = [task.example(key).problem["positions"] for key in range(100)]
    assert all(a < b < c for a, b, c in positions)
    assert {position for chosen in positions for position in chosen} == {1, 2, 3, 4, 5}


def test_a_chain_of_thought_is_a_tally():
    task = Averaging.configured(n=6, protocol="cot")
    for key in range(100):
        example = task.example(key)
        numbers = [example.problem["numbers"][position - 1] for position in example.problem["positions"]]
        assert "".join(example.target) == "".join("~" * number + "-" for number in numbers) + example.answer
        assert all(example.loss_mask)


@pytest.mark.parametrize("chosen", [np.empty((0, 3), np.int64), np.array([[4, 1, 2], [1, 1, 1]])], ids=len)
def test_tallies_are_as_wide_as_the_longest(chosen):
    marks = tally(chosen)
    assert (marks != 0).sum(axis=1).tolist() == (chosen.sum(axis=1) + 3).tolist()
    assert marks.shape[1] == max(chosen.sum(axis=1) + 3, default=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 2, "q": 3}, "1 <= q <= n, got q = 3 of n = 2"),
        ({"q": 0}, "got q = 0"),
        ({"n_values": 1}, "at least 2 different numbers, got n_values = 1"),
        ({"n": 4, "q": 3, "n_values": 5, "n_numbers": 10}, "needs 15 numbers, got n_numbers = 10"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Averaging(**options)
