"""Theorem 4.1: Turing machines by an RNN with a chain of thought."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.proof import prove
from recherche.constructions.theorem_4_1 import CONSTRUCTIONS, machine_case
from recherche.machines import run_machine, shipped_machines


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_a_machine_counts_down_as_the_simulator_does(construction):
    for proof in prove(construction, Sizes(0, ((2, 1),))):
        assert proof.failures == 0, proof.messages
        assert proof.cases > 0
        assert proof.margin > 0
        assert proof.audited_registers > 0


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_the_default_sizes_are_right(construction):
    for proof in prove(construction, construction.sizes):
        assert proof.failures == 0, proof.messages


def test_configurations_are_two_stacks_with_the_head_between_them():
    machine = shipped_machines()["increment"]
    case = machine_case(machine, "1", run_machine(machine, "1"), 3)
    # Codes: blank 0, '0' 1, '1' 2; base 4. The word is under the head: R = 2 * 16; one step to the right: L = 2 * 16.
    assert case.completion[:6] == ("@right", "1", "33", "@right", "33", "1")
    assert case.completion[-2:] == ("@done", "YES")
