"""Theorem 4.7: IsTree by a Transformer."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.proof import prove
from recherche.constructions.theorem_4_7 import CONSTRUCTIONS


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_every_graph_of_three_vertices_and_some_larger_ones_are_right(construction):
    for proof in prove(construction, Sizes(3, ((8, 1),))):
        assert proof.failures == 0, proof.messages
        assert proof.cases > 0
        assert proof.margin > 0
        assert proof.audited_registers > 0


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_the_default_sizes_are_right(construction):
    for proof in prove(construction, construction.sizes):
        assert proof.failures == 0, proof.messages


def test_erratum_20_a_graph_that_is_no_tree_can_end_where_a_tree_does():
    """The printed check is that the tour ends at position 5n - 3; 10 edges on 6 of 7 vertices give 3m + 2 at 32."""
    n, m = 7, 10
    assert 3 * m + 2 == 5 * n - 3
    assert m != n - 1
