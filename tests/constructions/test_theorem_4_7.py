"""Theorem 4.7: IsTree by a Transformer."""

from itertools import combinations

import pytest

from recherche.constructions.compiler import compile_program
from recherche.constructions.construction import Sizes
from recherche.constructions.proof import complete, prove
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
    n, edges = 7, [pair for pair in combinations(range(2, 8), 2) if sum(pair) % 3][:10]
    tour = ("1",)
    assert len(edges) == 10
    assert 3 * len(edges) + 1 + len(tour) == 5 * n - 3
    (construction,) = CONSTRUCTIONS
    prompt = ("<s>", *(token for u, v in edges for token in (str(u), "~", str(v))), "<d>")
    model = compile_program(construction.program(len(prompt) + 8))
    assert complete(construction, model, [prompt], [8]) == [(*tour, "NO")]
