"""The audit sees what is right, and each way of being wrong."""

import pytest
import torch

from recherche.constructions.audit import audit, evaluate, interpret
from recherche.constructions.compiler import compile_program
from recherche.constructions.layout import Transformer
from recherche.constructions.program import Program
from recherche.errors import CertificateError

TEXT = ("<s>", "2", "3", "2", "~", "3")


def example() -> Program:
    p = Program("example", ("<s>", "~"), 8, Transformer())
    p.match(keys=p.copy(p.number, 1, name="previous"), queries=p.number, values=p.position, name="found")
    p.count_inverse(keys=p.number, queries=p.number, name="share")
    return p


def test_a_program_is_interpreted_in_exact_fractions():
    p = example()
    values = interpret(p, TEXT)
    found = {register.name: column for register, column in values.items()}
    assert found["previous"] == [0, 0, 2, 3, 2, 0]
    assert found["found"] == [1, 1, 1, 3, 2, 4]
    assert [1 / share for share in found["share"]] == [1, 2, 2, 3, 2, 3]
    assert evaluate(p.position * 2 - 1, values, len(TEXT)) == [1, 3, 5, 7, 9, 11]


def test_a_compiled_program_passes():
    p = example()
    report = audit(p, compile_program(p), TEXT)
    assert report.num_exact == report.num_registers == 1 + len(p.registers.placed)
    assert report.num_positions == len(TEXT)


def test_a_broken_weight_is_named_by_its_register():
    p = example()
    model = compile_program(p)
    with torch.no_grad():
        model.blocks[1].mixer.W_V *= 0.5
    with pytest.raises(CertificateError, match="register previous should be 2 at position 3"):
        audit(p, model, TEXT)


def test_an_assumption_that_does_not_hold_is_refused_with_its_reason():
    p = example()
    p.assume(p.number, 0, 2, because="numbers are small")
    with pytest.raises(CertificateError, match="assumes that numbers are small, but number is 3 at position 3"):
        audit(p, compile_program(p), TEXT)
