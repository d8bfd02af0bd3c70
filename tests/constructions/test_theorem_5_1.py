"""Proposition 5.1: an oracle for associative recall tells at most four views apart."""

from itertools import product

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.theorem_5_1 import MOST_VIEWS, final_states, find_collision, prove_recall, view_of


@pytest.mark.parametrize("m", [1, 2, 5])
def test_the_oracle_shows_a_function_of_the_second_bit_and_the_bits_that_occur(m):
    views = {}
    for bits in product((0, 1), repeat=m):
        known = (bits[1] if m > 1 else None, frozenset(bits))
        assert views.setdefault(known, view_of(bits)) == view_of(bits)
    assert len(set(views.values())) <= MOST_VIEWS


def test_two_inputs_that_share_state_and_view_differ_at_the_place():
    states = final_states(5, 8)
    collision = find_collision(8, states.__getitem__, view_of)
    assert collision is not None
    assert states[collision.first] == states[collision.second]
    assert view_of(collision.first) == view_of(collision.second)
    assert collision.first[collision.place - 1] != collision.second[collision.place - 1]


def test_a_memory_of_the_whole_input_has_no_collision():
    assert find_collision(4, lambda bits: bits, view_of) is None


def test_erratum_30_with_numbers_in_odd_places_the_oracle_shows_their_membership():
    """The printed data has tokens from [n] in odd places: FAILED then tells which of them occur, n bits in all."""
    n = 4
    printed = {frozenset(x) for x in product(range(n), repeat=n)}
    corrected = {view_of(bits) for bits in product((0, 1), repeat=n)}
    assert len(printed) == 2**n - 1
    assert len(corrected) <= MOST_VIEWS


def test_all_inputs_of_up_to_eight_tokens_hold():
    (proof,) = prove_recall(Sizes(8, ()))
    assert (proof.cases, proof.failures, proof.n_max) == (2 + 4 + 8 + 16, 0, 8)
