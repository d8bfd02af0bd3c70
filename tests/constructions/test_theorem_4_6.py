"""Theorem 4.6: Index, AR, c-gram retrieval and Counting by Transformers."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.proof import prove
from recherche.constructions.theorem_4_6 import CONSTRUCTIONS


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_every_problem_of_up_to_three_tokens_and_some_larger_ones_are_right(construction):
    for proof in prove(construction, Sizes(3, ((40, 3),))):
        assert proof.failures == 0, proof.messages
        assert proof.cases > 0
        assert proof.margin > 0
        assert proof.audited_registers > 0


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_the_default_sizes_are_right(construction):
    for proof in prove(construction, construction.sizes):
        assert proof.failures == 0, proof.messages


def test_erratum_16_the_count_includes_the_query_and_perhaps_the_threshold():
    """The printed proof reads m off the count at the last position, and compares with 1 instead of 0."""
    x, q, t = (2, 2, 1), 2, 2
    prompt = (*x, q, t)
    m = x.count(q)
    counted = prompt.count(q)
    assert counted == m + 1 + (q == t)
    assert (counted - 1 - (q == t) > t) == (m > t)
    assert (counted > t) != (m > t)
