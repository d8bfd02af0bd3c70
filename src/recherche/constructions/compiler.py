"""From a program to weights: every operation fills its rows of the matrices of its layer.

    attention      W_K and W_Q: a pair's forms, W_Q times lambda sqrt(d);  W_V: the values;  W_O: where they go
    linear unit    B: the input's form;  A: the register that is delayed, or the rate on the diagonal
    feed-forward   W_1, b_1: a unit's gate;  W_2, b_2: its value;  W_3: its weight at the result;  b_3: constants

The last feed-forward writes the output. It first subtracts what the readout coordinates hold (the token's own
embedding), then adds, row by row of the program's emissions, [2v, -1] on the number coordinates or a value on a
special's. d_model is the smallest power of 4 with room for all coordinates, so that sqrt(d) is a power of two and
scores stay exact; without attention there is no sqrt(d), and the next multiple of 8 does.

Reference: Lindner et al. (2023), Tracr: compiled Transformers, https://arxiv.org/abs/2301.05062
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from recherche.constructions.affine import Affine, Register
from recherche.constructions.blocks import Attention, Block, LinearUnit, ReGLU
from recherche.constructions.model import BlockShape, ModelShape, PaperModel
from recherche.constructions.primitives.attention import Copy, CountInverse, Head, Invert
from recherche.constructions.primitives.feed_forward import FeedForward, Unit
from recherche.constructions.primitives.linear_unit import Accumulate, Delay
from recherche.constructions.primitives.matching import Match
from recherche.constructions.primitives.operation import Placed
from recherche.constructions.program import Program

SHARPNESS = 1024
"""lambda: scores that differ by 1 get weights whose ratio exp(-1024) is 0 in float64."""

ONE = Affine.of(1)


@final
@dataclass(slots=True)
class _Layer:
    """What one layer has to do: heads by what they attend to, rows of the linear unit, units of the feed-forward."""

    heads: dict[tuple, tuple[Head, list[tuple[Affine, Register]]]] = field(default_factory=dict)
    linear: list[tuple[Delay | Accumulate, Register]] = field(default_factory=list)
    units: list[tuple[Unit, int]] = field(default_factory=list)
    constants: list[tuple[Fraction, int]] = field(default_factory=list)

    @property
    def d_head(self) -> int:
        """Rows that the largest head needs."""
        return max((max(len(head.pairs), len(values)) for head, values in self.heads.values()), default=0)


def compile_program(program: Program, *, sharpness: int = SHARPNESS) -> PaperModel:
    """The model whose weights carry out the program.

    Args:
        sharpness: lambda, a power of two.
    """
    layers = _plan(program)
    d_model = _d_model(program.registers.n_coordinates, scaled=any(layer.heads for layer in layers))
    shape = ModelShape(
        specials=program.specials,
        n_numbers=program.capacity,
        d_model=d_model,
        blocks=tuple(_shape_of(layer, program.layout.mixer(i)) for i, layer in enumerate(layers, start=1)),
    )
    model = PaperModel(shape)
    writer = _Writer(d_model, program.registers.one.coordinate, sharpness)
    with torch.no_grad():
        for block, layer in zip(model.blocks, layers, strict=True):
            writer.fill(block, layer)
    return model


def _d_model(n_coordinates: int, *, scaled: bool) -> int:
    """A width with room for all coordinates; if scores are scaled by its root, a power of 4."""
    if not scaled:
        return -(-n_coordinates // 8) * 8
    return 4 ** ((n_coordinates - 1).bit_length() + 1 >> 1)


def _shape_of(layer: _Layer, mixer: str) -> BlockShape:
    if mixer == "linear":
        return BlockShape(mixer="linear", width=len(layer.units))
    return BlockShape(mixer="attention", n_heads=len(layer.heads), d_head=layer.d_head, width=len(layer.units))


def _plan(program: Program) -> list[_Layer]:
    layers = [_Layer() for _ in range(program.n_layers)]
    for placed in program.registers.placed:
        _assign(layers[(placed.stage - 1) // 2], placed)
    layers[-1].units += _readout(program)
    return layers


def _assign(layer: _Layer, placed: Placed) -> None:
    operation, register = placed.operation, placed.result
    if isinstance(operation, (Copy, Match, CountInverse, Invert)):
        head = operation.head
        attended = (tuple((key.key, query.key) for key, query in head.pairs), head.sharpening)
        layer.heads.setdefault(attended, (head, []))[1].append((head.value, register))
    elif isinstance(operation, (Delay, Accumulate)):
        layer.linear.append((operation, register))
    else:
        assert isinstance(operation, FeedForward)
        layer.units += [(unit, register.coordinate) for unit in operation.units()]
        layer.constants += [(operation.bias, register.coordinate)] if operation.bias else []


def _readout(program: Program) -> list[tuple[Unit, int]]:
    """Units that clear the readout coordinates, then one or two for each emission."""
    readout = [register for register in program.registers.inputs.values() if register.coordinate >= 0]
    units = [(Unit(Fraction(-1), ONE, Affine.of(register)), register.coordinate) for register in readout]
    return units + [unit for row in program.emissions for unit in row.units(program.specials)]


@final
@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes affine forms into matrices; a mixer, which has no bias, reads constants from the register `one`."""

    d_model: int
    one: int
    sharpness: int

    def fill(self, block: Block, layer: _Layer) -> None:
        """Set the weights of one block."""
        if isinstance(block.mixer, Attention):
            self._fill_attention(block.mixer, layer)
        else:
            self._fill_linear(block.mixer, layer)
        self._fill_feed_forward(block.feed_forward, layer)

    def _fill_attention(self, attention: Attention, layer: _Layer) -> None:
        for h, (head, values) in enumerate(layer.heads.values()):
            scale = self.sharpness * head.sharpening * self.d_model**0.5
            for i, (key, query) in enumerate(head.pairs):
                attention.W_K[h, i] = self._row(key)
                attention.W_Q[h, i] = self._row(query) * scale
            for i, (value, register) in enumerate(values):
                attention.W_V[h, i] = self._row(value)
                attention.W_O[h, register.coordinate, i] = 1.0

    def _fill_linear(self, unit: LinearUnit, layer: _Layer) -> None:
        for operation, register in layer.linear:
            if isinstance(operation, Delay):
                unit.A[register.coordinate, operation.source.coordinate] = 1.0
            else:
                unit.A[register.coordinate, register.coordinate] = float(operation.rate)
                unit.B[register.coordinate] = self._row(operation.value)

    def _fill_feed_forward(self, feed_forward: ReGLU, layer: _Layer) -> None:
        for i, (unit, coordinate) in enumerate(layer.units):
            for W, b, form in (
                (feed_forward.W_1, feed_forward.b_1, unit.gate),
                (feed_forward.W_2, feed_forward.b_2, unit.value),
            ):
                W[i] = self._row(form - form.constant)
                b[i] = float(form.constant)
            feed_forward.W_3[coordinate, i] = float(unit.weight)
        for constant, coordinate in layer.constants:
            feed_forward.b_3[coordinate] = float(constant)

    def _row(self, form: Affine) -> Float[Tensor, " d"]:
        row = torch.zeros(self.d_model, dtype=torch.float64)
        for register, coefficient in form.terms:
            row[register.coordinate] += float(coefficient)
        row[self.one] += float(form.constant)
        return row


def nonzero_weights(model: nn.Module) -> int:
    """Number of parameters that are not 0: the size of a construction, however wide its matrices are."""
    return sum(int(parameter.count_nonzero()) for parameter in model.parameters())


def largest_weight(model: nn.Module) -> float:
    """The largest absolute value of a parameter."""
    return max(float(parameter.detach().abs().max()) for parameter in model.parameters() if parameter.numel())
