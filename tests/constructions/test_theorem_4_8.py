"""Theorem 4.8: circuits by a Transformer."""

import pytest

from recherche.constructions.circuits import CircuitRNN, Gate
from recherche.constructions.construction import Sizes
from recherche.constructions.proof import prove
from recherche.constructions.theorem_4_8 import CONSTRUCTIONS, circuit_case


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_random_circuits_run_gate_by_gate(construction):
    for proof in prove(construction, Sizes(0, ((6, 3),))):
        assert proof.failures == 0, proof.messages
        assert proof.cases > 0
        assert proof.margin > 0
        assert proof.audited_registers > 0


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_the_default_sizes_are_right(construction):
    for proof in prove(construction, construction.sizes):
        assert proof.failures == 0, proof.messages


def test_the_reference_text_is_the_circuit_gate_by_gate():
    rnn = CircuitRNN(
        alphabet=("YES", "NO"), n_state=1, gates=(Gate("xor", 0, 1), Gate("one")), state_gates=(0,), output_gates=(0,)
    )
    case = circuit_case(rnn, ("NO", "NO"), num_outputs=3)
    assert case.completion == ("NO", "true", "true", "NO", "false", "true", "YES")
