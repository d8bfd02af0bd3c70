"""Theorem 5.8: Turing machines by a hybrid."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.proof import prove
from recherche.constructions.theorem_5_8 import CONSTRUCTIONS, machine_case
from recherche.machines import run_machine, shipped_machines


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


def test_a_trace_is_the_simulators_run():
    machine = shipped_machines()["increment"]
    case = machine_case(machine, "1", run_machine(machine, "1"), 1)
    assert " ".join(case.text[:8]) == "<s> '1' <d> 2 '1' '1' R @right"
    assert " ".join(case.text[-6:]) == "1 '_' '1' S @done YES"
