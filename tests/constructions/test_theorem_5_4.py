"""Theorem 5.4: Turing machines by an RNN that searches."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.proof import prove
from recherche.constructions.theorem_5_4 import CONSTRUCTIONS, read_query
from recherche.errors import QueryError
from recherche.queries import Index, LastWrite


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_two_machines_run_as_the_simulator_does(construction):
    for proof in prove(construction, Sizes(0, ((2, 2),))):
        assert proof.failures == 0, proof.messages
        assert proof.cases > 0
        assert proof.margin > 0
        assert proof.audited_registers > 0


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_the_default_sizes_are_right(construction):
    for proof in prove(construction, construction.sizes):
        assert proof.failures == 0, proof.messages


@pytest.mark.parametrize("tokens", [(), ("1", "2"), ("=", "1"), ("'1'",)], ids=str)
def test_a_query_that_no_machine_asks_is_refused(tokens):
    with pytest.raises(QueryError, match="A machine asks for"):
        read_query(tokens)


def test_a_machine_asks_for_tokens_and_cells():
    assert read_query(("3",)) == Index(3)
    assert read_query(("3", "=")) == LastWrite("3")
