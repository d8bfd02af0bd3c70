"""Circuits as lists of gates, and two RNNs whose step is one: any circuit, and a linear RNN in p-bit arithmetic.

A circuit reads the bits of the old state, then those of the input token, and computes gates in order; a gate is AND
or XOR of two earlier wires, or the constant 1. Some gates are the new state, some the output token. An RNN token is a
place in an alphabet, written in binary, lowest bit first; the state starts with all bits 0.

    FixedPointRNN    h' = R_p(R_p(2^-k h) + b[x]) in each dimension, output: whether the sum of all h' is at least 0

Reference: Wen, Dang & Lyu (2024), Theorem 4.8, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np

GateKind = Literal["and", "xor", "one"]


@final
@dataclass(frozen=True, slots=True)
class Gate:
    """One gate; `left` and `right` are wires, and a constant ignores them."""

    kind: GateKind
    left: int = 0
    right: int = 0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitRNN:
    """An RNN given as a circuit.

    Attributes:
        alphabet: the tokens that it reads and writes; a power of two of them.
        n_state: bits of the state.
        gates: wire n_state + n_bits + i is gate i; the wires before are the old state and the bits of the input token.
        state_gates: for each bit of the new state, its gate.
        output_gates: for each bit of the output token, its gate.
    """

    alphabet: tuple[str, ...]
    n_state: int
    gates: tuple[Gate, ...]
    state_gates: tuple[int, ...]
    output_gates: tuple[int, ...]

    @property
    def n_bits(self) -> int:
        """Bits of a token."""
        return (len(self.alphabet) - 1).bit_length()

    def step(self, state: tuple[int, ...], token: str) -> tuple[tuple[int, ...], tuple[int, ...], str]:
        """The values of all gates, the new state and the output token."""
        code = self.alphabet.index(token)
        wires = [*state, *(code >> i & 1 for i in range(self.n_bits))]
        inputs = len(wires)
        for gate in self.gates:
            a, b = wires[gate.left], wires[gate.right]
            wires.append({"and": a & b, "xor": a ^ b, "one": 1}[gate.kind])
        values = tuple(wires[inputs:])
        output = sum(values[gate] << i for i, gate in enumerate(self.output_gates))
        return values, tuple(values[gate] for gate in self.state_gates), self.alphabet[output]


@final
@dataclass(slots=True)
class CircuitBuilder:
    """Writes gates one by one; every method returns the wire of its result."""

    n_inputs: int
    gates: list[Gate] = field(default_factory=list)

    def _add(self, kind: GateKind, left: int = 0, right: int = 0) -> int:
        self.gates.append(Gate(kind, left, right))
        return self.n_inputs + len(self.gates) - 1

    def one(self) -> int:
        """The constant 1."""
        return self._add("one")

    def both(self, a: int, b: int) -> int:
        """a AND b."""
        return self._add("and", a, b)

    def differ(self, a: int, b: int) -> int:
        """a XOR b."""
        return self._add("xor", a, b)

    def negate(self, a: int, one: int) -> int:
        """NOT a."""
        return self.differ(a, one)

    def either(self, a: int, b: int) -> int:
        """a OR b = a XOR b XOR ab."""
        return self.differ(self.differ(a, b), self.both(a, b))

    def choose(self, condition: int, yes: int, no: int) -> int:
        """`yes` if the condition holds, else `no`."""
        return self.differ(no, self.both(condition, self.differ(yes, no)))

    def add(self, a: Sequence[int], b: Sequence[int], carry: int | None = None) -> list[int]:
        """The sum of two numbers of equal width, lowest bit first, the last carry dropped."""
        total = []
        for x, y in zip(a, b, strict=True):
            half = self.differ(x, y)
            total.append(half if carry is None else self.differ(half, carry))
            kept = self.both(x, y)
            carry = kept if carry is None else self.differ(kept, self.both(half, carry))
        return total


def random_circuit(generator: np.random.Generator, *, n_state: int, n_gates: int) -> CircuitRNN:
    """A random circuit over two-bit tokens, of which YES and NO end a text."""
    inputs = n_state + 2
    gates = []
    for i in range(n_gates):
        kind: GateKind = "one" if i == 0 else ("and", "xor")[int(generator.integers(0, 2))]
        left, right = generator.integers(0, inputs + i, size=2).tolist()
        gates.append(Gate(kind, left, right))
    chosen = generator.integers(0, n_gates, size=n_state + 2).tolist()
    return CircuitRNN(
        alphabet=("a", "b", "YES", "NO"),
        n_state=n_state,
        gates=tuple(gates),
        state_gates=tuple(chosen[:n_state]),
        output_gates=tuple(chosen[n_state:]),
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPointRNN:
    """A diagonal linear RNN in R_p: h' = R_p(R_p(2^-shift h) + b[x]), and whether the sum of h' is at least 0.

    Attributes:
        bits: p, odd.
        shift: the decay of each dimension is 2^-shift; 0 or 1.
        inputs: b[x] for the tokens a and b, in units of 2^-f, f = (p - 1) / 2, one for each dimension.
    """

    bits: int
    shift: tuple[int, ...]
    inputs: tuple[tuple[int, ...], tuple[int, ...]]

    def compile(self) -> CircuitRNN:
        """The gates of one step; numbers are two's complement with p + 1 bits, so that a sum never overflows."""
        width, n_state = self.bits, self.bits * len(self.shift)
        builder = CircuitBuilder(n_state + 2)
        one = builder.one()
        zero = builder.differ(one, one)
        is_b = n_state
        state: list[int] = []
        totals: list[list[int]] = []
        for i, shift in enumerate(self.shift):
            h = list(range(i * width, (i + 1) * width))
            halved = _halved(builder, h) if shift else h
            constants = [[one if value[i] >> j & 1 else zero for j in range(width)] for value in self.inputs]
            added = [builder.choose(is_b, b, a) for a, b in zip(*constants, strict=True)]
            total = builder.add([*halved, halved[-1]], [*added, added[-1]])
            state += _saturated(builder, total, one)
            totals.append(state[-width:])
        output = _is_nonnegative(builder, totals, one)
        answer = builder.negate(output, one)
        high = builder.both(one, one)
        gates = tuple(builder.gates)
        first = builder.n_inputs
        return CircuitRNN(
            alphabet=("a", "b", "YES", "NO"),
            n_state=n_state,
            gates=gates,
            state_gates=tuple(wire - first for wire in state),
            output_gates=(answer - first, high - first),
        )


def _halved(builder: CircuitBuilder, h: Sequence[int]) -> list[int]:
    """h / 2 rounded, halves to even: shift, then add 1 if both the lost bit and the new lowest one are 1."""
    shifted = [*h[1:], h[-1]]
    up = builder.both(h[0], h[1])
    carry, total = up, []
    for bit in shifted:
        total.append(builder.differ(bit, carry))
        carry = builder.both(bit, carry)
    return total


def _saturated(builder: CircuitBuilder, total: Sequence[int], one: int) -> list[int]:
    """A number of p + 1 bits clamped to -(2^(p-1) - 1) .. 2^(p-1) - 1, in p bits."""
    *low, carry, sign = total
    overflow = builder.differ(carry, sign)
    positive = builder.negate(sign, one)
    lowest = builder.choose(overflow, one, low[0])
    clamped = [lowest, *(builder.choose(overflow, positive, bit) for bit in low[1:])]
    value = [*clamped, builder.choose(overflow, sign, carry)]
    # R_p is symmetric: the one number below its range, -2^(p-1), becomes its neighbour.
    nothing = one
    for bit in value[:-1]:
        nothing = builder.both(nothing, builder.negate(bit, one))
    return [builder.either(value[0], builder.both(nothing, value[-1])), *value[1:-1], builder.both(value[-1], one)]


def _is_nonnegative(builder: CircuitBuilder, totals: list[list[int]], one: int) -> int:
    """Whether the sum of two's complement numbers is at least 0."""
    guard = len(totals).bit_length()
    extended = [[*total, *([total[-1]] * guard)] for total in totals]
    sum_of_all = extended[0]
    for total in extended[1:]:
        sum_of_all = builder.add(sum_of_all, total)
    return builder.negate(sum_of_all[-1], one)
