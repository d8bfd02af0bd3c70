"""Circuits against ordinary arithmetic."""

from itertools import product

import pytest
import torch

from recherche._rng import numpy_generator
from recherche.constructions.circuits import CircuitBuilder, FixedPointRNN, random_circuit
from recherche.precision import FixedPoint


def bits_of(value: int, width: int) -> list[int]:
    return [value >> i & 1 for i in range(width)]


def run(builder: CircuitBuilder, inputs: list[int]) -> list[int]:
    wires = list(inputs)
    for gate in builder.gates:
        a, b = wires[gate.left], wires[gate.right]
        wires.append({"and": a & b, "xor": a ^ b, "one": 1}[gate.kind])
    return wires


def test_an_adder_adds():
    builder = CircuitBuilder(6)
    total = builder.add([0, 1, 2], [3, 4, 5])
    for a, b in product(range(8), repeat=2):
        wires = run(builder, bits_of(a, 3) + bits_of(b, 3))
        assert [wires[wire] for wire in total] == bits_of((a + b) % 8, 3)


def test_choices_and_connectives():
    builder = CircuitBuilder(3)
    chosen, either = builder.choose(0, 1, 2), builder.either(1, 2)
    for c, a, b in product((0, 1), repeat=3):
        wires = run(builder, [c, a, b])
        assert (wires[chosen], wires[either]) == (a if c else b, a | b)


@pytest.mark.parametrize("bits", [3, 5, 7])
def test_the_compiled_fixed_point_rnn_computes_in_r_p(bits):
    """Every step of the circuit against the same step in R_p, on random words; states are read as two's complement."""
    unit, rounding = 2.0 ** -((bits - 1) // 2), FixedPoint(bits)
    rnn = FixedPointRNN(bits=bits, shift=(1, 0), inputs=((3, -3), (-2, 1)))
    circuit = rnn.compile()
    generator = numpy_generator(bits, "words")
    state = (0,) * circuit.n_state
    h = torch.zeros(2, dtype=torch.float64)
    for _ in range(60):
        token = int(generator.integers(0, 2))
        _, state, output = circuit.step(state, "ab"[token])
        decay = torch.tensor([0.5**shift for shift in rnn.shift], dtype=torch.float64)
        h = rounding(rounding(decay * h) + torch.tensor(rnn.inputs[token], dtype=torch.float64) * unit)
        values = []
        for i in range(2):
            digits = state[i * bits : (i + 1) * bits]
            value = sum(bit << j for j, bit in enumerate(digits)) - (digits[-1] << bits)
            values.append(value * unit)
        assert values == h.tolist()
        assert output == ("YES" if h.sum() >= 0 else "NO")


def test_random_circuits_repeat_and_stay_in_range():
    first, second = (random_circuit(numpy_generator(1, "c"), n_state=2, n_gates=9) for _ in range(2))
    assert first == second
    assert max(first.state_gates + first.output_gates) < 9
