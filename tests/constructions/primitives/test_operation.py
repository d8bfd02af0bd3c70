"""Every primitive fulfils the contract of an operation."""

import pytest

from recherche.constructions.layout import LinearRNN, Transformer
from recherche.constructions.primitives.operation import Operation
from recherche.constructions.program import Program


def programs() -> list[Program]:
    attention = Program("attention", ("<s>",), 16, Transformer())
    q = attention.copy(attention.number, 1)
    attention.is_nonnegative(attention.match(keys=q, queries=attention.number, values=attention.number) - 2)
    attention.invert(attention.count_inverse(keys=q, queries=attention.number))
    attention.all_of(attention.is_zero(q))
    linear = Program("linear", ("<s>",), 16, LinearRNN())
    linear.product(linear.lag(linear.number, 1), linear.running_sum(linear.number))
    return [attention, linear]


PLACED = [placed for program in programs() for placed in program.registers.placed]


@pytest.mark.parametrize("placed", PLACED, ids=str)
def test_a_primitive_states_its_kind_inputs_and_meaning(placed):
    assert isinstance(placed.operation, Operation)
    assert str(placed) in (placed.result.name, f"{placed.result.name} = {placed.operation}")
    assert (placed.stage % 2 == 0) == (placed.operation.kind == "feed-forward")
    assert all(register.stage <= placed.stage for form in placed.operation.inputs for register in form.registers)
