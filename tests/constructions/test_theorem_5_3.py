"""Theorem 5.3: IsTree by an RNN that searches."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.proof import prove
from recherche.constructions.theorem_5_3 import CONSTRUCTIONS


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_every_graph_of_three_vertices_is_right(construction):
    for proof in prove(construction, Sizes(3, ())):
        assert proof.failures == 0, proof.messages
        assert proof.cases > 0
        assert proof.margin > 0
        assert proof.audited_registers > 0


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_the_default_sizes_are_right(construction):
    for proof in prove(construction, construction.sizes):
        assert proof.failures == 0, proof.messages


def test_the_trace_is_that_of_the_task():
    (suite,) = CONSTRUCTIONS[0].suites(Sizes(2, ()))
    assert " ".join(suite.cases[0].completion[:5]) == "<StartSearch> 1 ~ <EndSearch> 2"
