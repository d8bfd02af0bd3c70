"""Theorem 5.7: IsTree by a hybrid."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.graph_problems import small_graphs
from recherche.constructions.proof import prove
from recherche.constructions.theorem_5_7 import CONSTRUCTIONS, reference_text
from recherche.tasks.graphs import is_tree


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_every_graph_of_three_vertices_and_some_larger_ones_are_right(construction):
    for proof in prove(construction, Sizes(3, ((6, 3),))):
        assert proof.failures == 0, proof.messages
        assert proof.cases > 0
        assert proof.margin > 0
        assert proof.audited_registers > 0


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_the_default_sizes_are_right(construction):
    for proof in prove(construction, construction.sizes):
        assert proof.failures == 0, proof.messages


def test_the_reference_agrees_with_the_definition_of_a_tree():
    for n, edges in small_graphs(4):
        assert (reference_text(edges, n)[-1] == "YES") == is_tree(edges, n)


def test_a_tree_of_n_vertices_takes_at_most_23_n_tokens():
    for n in (8, 32, 100):
        edges = [(v // 2, v) for v in range(2, n + 1)]
        assert len(reference_text(edges, n)) <= 23 * n
