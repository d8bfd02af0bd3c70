"""The registers of a program: where each operation was placed, which coordinates it writes, what it holds at <s>.

Position 1 of every text holds <s>, so a register has one fixed value there. It is computed, exactly, when the
operation is placed; contracts about <s> need no more than to look it up.

Reference: Lindner et al. (2023), Tracr: compiled Transformers, https://arxiv.org/abs/2301.05062
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from recherche.constructions.affine import Affine, Register, Scalar
from recherche.constructions.layout import Layout, stage_for
from recherche.constructions.model import FIRST_SPECIAL, NUMBER, SQUARE
from recherche.constructions.primitives.feed_forward import Constant
from recherche.constructions.primitives.linear_unit import Delay
from recherche.constructions.primitives.operation import Column, Operation, Placed
from recherche.vocab import BEGIN


@final
@dataclass(frozen=True, slots=True)
class Assumption:
    """An affine form, the interval it is claimed to lie in, and why."""

    form: Affine
    low: Fraction
    high: Fraction
    because: str


@final
@dataclass(frozen=True, slots=True)
class Range:
    """The name of a result, an interval that holds it, and whether it is an integer."""

    name: str
    low: Fraction
    high: Fraction
    integer: bool


@final
@dataclass(slots=True)
class Registers:
    """The residual stream of one program, as it grows.

    Attributes:
        inputs: what the embedding holds, by name: the number, its square, each special token, the position.
        placed: the operations in the order in which they were written.
    """

    program: str
    specials: tuple[str, ...]
    capacity: int
    layout: Layout
    inputs: dict[str, Register] = field(default_factory=dict)
    placed: list[Placed] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    _at_begin: dict[Register, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._input("number", NUMBER, self.capacity, 0)
        self._input("number^2", SQUARE, self.capacity**2, 0)
        for k, token in enumerate(self.specials):
            self._input(token, FIRST_SPECIAL + k, 1, int(token == BEGIN))
        self._input("position", -1, self.capacity, 1)
        self.place(Constant(Fraction(1)), Range("one", Fraction(1), Fraction(1), integer=True))

    def _input(self, name: str, coordinate: int, high: int, at_begin: int) -> None:
        register = Register(name, coordinate, 0, Fraction(0), Fraction(high), integer=True)
        self.inputs[name] = register
        self._at_begin[register] = Fraction(at_begin)

    @property
    def one(self) -> Register:
        """The register that holds 1 everywhere, from the first feed-forward on."""
        return self.placed[0].result

    @property
    def n_coordinates(self) -> int:
        """Coordinates in use: readout, registers and the position."""
        return FIRST_SPECIAL + len(self.specials) + len(self.placed) + 1

    def place(self, operation: Operation, result: Range) -> Affine:
        """Put the operation into the first stage that can hold it.

        Raises:
            CertificateError: the layout has no such stage.
        """
        ready = max((self._ready(form, operation) for form in operation.inputs), default=0)
        stage = stage_for(self.layout, operation.kind, ready=ready, what=f"{result.name} of program {self.program}")
        return Affine.of(self._add(operation, result, stage))

    def place_delay(self, source: Register, name: str) -> Register:
        """One more delay, in the linear unit that holds `source`."""
        return self._add(Delay(source), Range(name, source.low, source.high, source.integer), source.stage)

    def _add(self, operation: Operation, result: Range, stage: int) -> Register:
        coordinate = self.n_coordinates - 1
        register = Register(result.name, coordinate, stage, result.low, result.high, result.integer)
        self._at_begin[register] = operation.meaning(self._read_begin)[0]
        self.placed.append(Placed(operation, register, stage))
        return register

    def _ready(self, form: Affine, operation: Operation) -> int:
        needs_one = operation.kind != "feed-forward" and form.constant != 0
        return max([register.stage for register in form.registers] + ([self.one.stage] if needs_one else [0]))

    def _read_begin(self, form: Affine) -> Column:
        return [form.constant + sum((c * self._at_begin[register] for register, c in form.terms), Fraction(0))]

    def value_at_begin(self, form: Affine) -> Fraction:
        """The value of a form at position 1, where the token is always <s>."""
        return self._read_begin(form)[0]

    def assume(self, form: Affine, low: Scalar, high: Scalar, *, because: str) -> Affine:
        """The same form, claimed to lie in [low, high]; the audit checks the claim at every position."""
        self.assumptions.append(Assumption(form, Fraction(low), Fraction(high), because))
        return form.within(low, high)


def in_words(placed: Sequence[Placed]) -> list[str]:
    """One line for each operation, and one for each run of delays."""
    lines: list[str] = []
    delays: list[Placed] = []
    for one in [*placed, None]:
        if one is not None and isinstance(one.operation, Delay):
            delays.append(one)
            continue
        if delays:
            lines.append(f"{delays[0].result.name} ... {delays[-1].result.name} = one token ago each")
            delays = []
        lines += [] if one is None else [str(one)]
    return lines
