from fractions import Fraction
from itertools import product

import pytest

from recherche.errors import ConfigError
from recherche.tasks.hub_degrees import best_guess_accuracy


def by_enumeration(n_nodes: int) -> Fraction:
    n_spokes = n_nodes - 2
    outcomes: dict[frozenset[int], list[bool]] = {}
    for bits in product((0, 1), repeat=n_spokes):
        for k in range(n_spokes - 1):
            degrees = frozenset((sum(bits), n_spokes - sum(bits)))
            outcomes.setdefault(degrees, []).append(bits[k] != bits[k + 1])
    right = sum(max(sum(answers), len(answers) - sum(answers)) for answers in outcomes.values())
    return Fraction(right, sum(len(answers) for answers in outcomes.values()))


@pytest.mark.parametrize("n_nodes", [4, 5, 6, 7, 8, 10])
def test_the_formula_agrees_with_counting_all_graphs(n_nodes):
    assert best_guess_accuracy(n_nodes) == by_enumeration(n_nodes)


def test_the_best_guess_tends_to_a_coin():
    assert Fraction(1, 2) < best_guess_accuracy(256) < Fraction(51, 100)


def test_a_size_without_hard_graphs_is_refused():
    with pytest.raises(ConfigError, match="at least 4 vertices, got 3"):
        best_guess_accuracy(3)
