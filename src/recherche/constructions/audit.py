"""The audit: every register of a compiled model at every position, held to exact rational arithmetic.

`interpret` carries out a program by the meaning of its primitives, in fractions, without weights. The compiled model
reads the same tokens; its residual stream must hold the same numbers: integers bit for bit, and reciprocals of counts,
which float64 can only round, to within a few units in the last place. Assumptions are checked as well.

Reference: Lindner et al. (2023), Tracr: compiled Transformers, https://arxiv.org/abs/2301.05062
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import torch

from recherche.constructions.affine import Affine, Register
from recherche.constructions.model import PaperModel
from recherche.constructions.primitives.operation import Column
from recherche.constructions.program import Program
from recherche.errors import CertificateError

ROUNDING = Fraction(1, 2**50)
"""Allowed relative error of a register that is not an integer: a few roundings of float64."""

Values = dict[Register, Column]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit that passed has seen.

    Attributes:
        num_registers: registers compared.
        num_positions: positions at which they were compared.
        num_exact: registers that agreed bit for bit everywhere.
        largest_error: the largest relative error of the others.
    """

    num_registers: int
    num_positions: int
    num_exact: int
    largest_error: float


def interpret(program: Program, tokens: Sequence[str]) -> Values:
    """The exact value of every register at every position of a text."""
    values: Values = {}
    for name, register in program.registers.inputs.items():
        values[register] = [_input(name, token, i) for i, token in enumerate(tokens, start=1)]
    for placed in program.registers.placed:
        values[placed.result] = placed.operation.meaning(lambda form: evaluate(form, values, len(tokens)))
    return values


def _input(name: str, token: str, position: int) -> Fraction:
    if name == "position":
        return Fraction(position)
    if name in ("number", "number^2"):
        return Fraction(int(token) if token.isdecimal() else 0) ** (2 if name.endswith("^2") else 1)
    return Fraction(token == name)


def evaluate(form: Affine, values: Values, length: int) -> Column:
    """The values of an affine form at all positions."""
    column = [form.constant] * length
    for register, coefficient in form.terms:
        column = [total + coefficient * value for total, value in zip(column, values[register], strict=True)]
    return column


def audit(program: Program, model: PaperModel, tokens: Sequence[str]) -> Audit:
    """Compare the model that `program` was compiled to with the program's meaning, on one text.

    Raises:
        CertificateError: a register or an assumption does not hold; the message names it and the position.
    """
    values = interpret(program, tokens)
    for assumption in program.registers.assumptions:
        for i, value in enumerate(evaluate(assumption.form, values, len(tokens)), start=1):
            if not assumption.low <= value <= assumption.high:
                raise CertificateError(
                    f"Program {program.name} assumes that {assumption.because}, but {assumption.form} is {value} at "
                    f"position {i} ({tokens[i - 1]}), outside [{assumption.low}, {assumption.high}]."
                )
    ids = torch.from_numpy(model.vocab.encode(tokens))[None]
    with torch.inference_mode():
        stream = model.residual_stream(ids)[0][0].tolist()
    errors = [_largest_error(program, register, values[register], stream, tokens) for register in _audited(program)]
    return Audit(
        num_registers=len(errors),
        num_positions=len(tokens),
        num_exact=sum(error == 0 for error in errors),
        largest_error=float(max(errors, default=Fraction(0))),
    )


def _audited(program: Program) -> list[Register]:
    """Every register that is still there after the last layer: all but the readout coordinates."""
    return [program.registers.inputs["position"], *(placed.result for placed in program.registers.placed)]


def _largest_error(
    program: Program, register: Register, expected: Column, stream: list[list[float]], tokens: Sequence[str]
) -> Fraction:
    largest = Fraction(0)
    for i, (want, row) in enumerate(zip(expected, stream, strict=True), start=1):
        found = row[register.coordinate]
        if found == float(want):
            continue
        error = abs(Fraction(found) - want) / max(abs(want), ROUNDING)
        if register.integer or error > ROUNDING:
            raise CertificateError(
                f"In program {program.name} register {register.name} should be {want} at position {i} "
                f"({tokens[i - 1]}), and the compiled model holds {found!r}."
            )
        largest = max(largest, error)
    return largest
