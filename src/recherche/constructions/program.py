"""The assembler: a program over named registers of the residual stream, checked while it is written.

    p = Program("ar-transformer", specials=("<s>",), capacity=64, layout=Transformer())
    previous = p.copy(p.number, 1)
    p.emit_number(p.match(keys=previous, queries=p.number, values=p.number))
    model = compile_program(p)                                      (compiler.py)

Each call places one primitive in the first layer that can hold it and returns an affine form over its result, which
adds, subtracts and scales like a number. `capacity` is N: no position and no number token exceeds it. Contracts are
checked at the call, so an error names the register and the line that broke it:

    vanishing    keys and `where` are 0 at <s>. Position 1 always holds <s>, so every register has a fixed value there;
                 it is computed exactly, as the program grows.
    flags        conditions are 0 or 1: integers in the interval [0, 1].
    integers     keys and queries are integers, so different scores differ by at least 1.
    exactness    every score and every register is an integer below 2^53, by its interval; float64 makes no error.

What intervals cannot show (that two flags exclude each other) is claimed with `p.assume`, and checked by the audit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import final

from recherche.constructions.affine import Affine, Register, Scalar
from recherche.constructions.contracts import check_head, check_vanishing, require_flags
from recherche.constructions.layout import Layout, stage_for
from recherche.constructions.model import FIRST_SPECIAL, NUMBER, SQUARE
from recherche.constructions.primitives.attention import (
    Copy,
    CountInverse,
    Head,
    Invert,
    Select,
    Stream,
    match,
)
from recherche.constructions.primitives.feed_forward import (
    Choice,
    Constant,
    IsNonNegative,
    IsZero,
    Product,
    conjunction,
)
from recherche.constructions.primitives.linear_unit import Accumulate, Delay
from recherche.constructions.primitives.operation import Column, Operation, Placed
from recherche.errors import CertificateError

Forms = Affine | Sequence[Affine]
Row = tuple[Forms, Affine]


def _forms(forms: Forms) -> tuple[Affine, ...]:
    return (forms,) if isinstance(forms, Affine) else tuple(forms)


@final
@dataclass(frozen=True, slots=True)
class Emission:
    """One row of the last layer: if all flags are 1, put `value` on `token`'s logit, or name the number `value`.

    Attributes:
        times: a factor of the value that is never negative, in place of flags: it takes the place of the gate.
    """

    flags: tuple[Affine, ...]
    token: str | None
    value: Affine
    times: Affine | None = None

    @property
    def gate(self) -> Affine:
        """What the row's unit applies ReLU to."""
        return conjunction(self.flags) if self.times is None else self.times

    @property
    def forms(self) -> tuple[Affine, ...]:
        """All that the row reads."""
        return (*self.flags, self.value, *([] if self.times is None else [self.times]))

    def __str__(self) -> str:
        condition = f" if {' and '.join(map(str, self.flags))}" if self.flags else ""
        if self.token is None:
            return f"number ({self.value}){condition}"
        if not self.value.terms and self.value.constant == 1:
            return f"{self.token}{condition}"
        factor = "" if self.times is None else f"({self.times}) times "
        return f"{self.token} with logit {factor}({self.value}){condition}"


@final
@dataclass(frozen=True, slots=True)
class Assumption:
    """An affine form, the interval it is claimed to lie in, and why."""

    form: Affine
    low: Fraction
    high: Fraction
    because: str


@final
@dataclass(slots=True)
class Program:
    """A program under construction; see the module."""

    name: str
    specials: tuple[str, ...]
    capacity: int
    layout: Layout
    placed: list[Placed] = field(default_factory=list)
    emissions: list[Emission] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    inputs: dict[str, Register] = field(default_factory=dict)
    at_begin: dict[Register, Fraction] = field(default_factory=dict)
    _squares: dict[tuple, Affine] = field(default_factory=dict)
    _lags: dict[tuple, list[Register]] = field(default_factory=dict)
    _stream: Stream = field(init=False)

    def __post_init__(self) -> None:
        if not self.specials or self.specials[0] != "<s>":
            raise CertificateError(f"A program's first special token is <s>, got {self.specials!r}; put it first.")
        self._input("number", NUMBER, self.capacity, 0)
        self._input("number^2", SQUARE, self.capacity**2, 0)
        for k, token in enumerate(self.specials):
            self._input(token, FIRST_SPECIAL + k, 1, 1 if token == "<s>" else 0)
        self._input("position", -1, self.capacity, 1)
        self._squares[self.number.key] = Affine.of(self.inputs["number^2"])
        self._stream = Stream(self.position, self.special("<s>"), self.square, self.capacity)
        one = self._place(Constant(Fraction(1)), [("one", Fraction(1), Fraction(1), True)])
        assert one[0].stage == 2

    def _input(self, name: str, coordinate: int, high: int, at_begin: int) -> None:
        register = Register(name, coordinate, 0, Fraction(0), Fraction(high), integer=True)
        self.inputs[name] = register
        self.at_begin[register] = Fraction(at_begin)

    @property
    def number(self) -> Affine:
        """The number that the current token names, 0 for a special token."""
        return Affine.of(self.inputs["number"])

    @property
    def position(self) -> Affine:
        """The position of the current token, counted from 1."""
        return Affine.of(self.inputs["position"])

    @property
    def one(self) -> Register:
        """The register that holds 1 everywhere."""
        return self.placed[0].results[0]

    def special(self, token: str) -> Affine:
        """1 at this special token, 0 elsewhere.

        Raises:
            CertificateError: the program has no such token.
        """
        if token not in self.specials:
            raise CertificateError(
                f"Program {self.name} has no special token {token!r}; it has {' '.join(self.specials)}."
            )
        return Affine.of(self.inputs[token])

    def assume(self, form: Affine, low: Scalar, high: Scalar, *, because: str) -> Affine:
        """The same form, claimed to lie in [low, high]; the audit checks the claim at every position."""
        self.assumptions.append(Assumption(form, Fraction(low), Fraction(high), because))
        return form.within(low, high)

    def product(self, x: Affine, y: Affine, *, name: str = "") -> Affine:
        """x y."""
        ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
        if x.key == y.key:
            ends = [max(0, end) for end in ends]
        operation = Product(x, y)
        return self._single(operation, name or str(operation), min(ends), max(ends), x.integer and y.integer)

    def square(self, x: Affine) -> Affine:
        """x^2; of one register with a scale and a shift, it is expanded, so that each register is squared once."""
        if x.key in self._squares:
            return self._squares[x.key]
        if not x.terms:
            return Affine.of(x.constant**2)
        if len(x.terms) == 1 and x.key != Affine.of(x.terms[0][0]).key:
            (register, scale), shift = x.terms[0], x.constant
            low = Fraction(0) if x.low <= 0 <= x.high else min(x.low**2, x.high**2)
            root = Affine.of(register)
            expanded = scale**2 * self.square(root) + 2 * scale * shift * root + shift**2
            return expanded.within(low, x.magnitude**2)
        square = x if x.flag and len(x.terms) == 1 else self.product(x, x)
        self._squares[x.key] = square
        return square

    def is_zero(self, x: Affine, *, name: str = "") -> Affine:
        """[x = 0] of an integer."""
        self._require_integer(x, "is_zero")
        operation = IsZero(x)
        return self._single(operation, name or str(operation), Fraction(0), Fraction(1), True)

    def is_nonnegative(self, x: Affine, *, name: str = "") -> Affine:
        """[x >= 0] of an integer."""
        self._require_integer(x, "is_nonnegative")
        operation = IsNonNegative(x)
        return self._single(operation, name or str(operation), Fraction(0), Fraction(1), True)

    def all_of(self, *flags: Affine, name: str = "") -> Affine:
        """1 if all flags are 1, else 0."""
        require_flags(flags, "all_of")
        operation = Choice(((flags, Affine.of(1)),))
        return self._single(operation, name or " and ".join(map(str, flags)), Fraction(0), Fraction(1), True)

    def choose(self, *rows: Row, name: str = "", exclusive: bool = True) -> Affine:
        """The sum of the values of the rows whose flags are all 1; `exclusive` claims that at most one row fires."""
        parts = tuple((_forms(flags), value) for flags, value in rows)
        for flags, _ in parts:
            require_flags(flags, "choose")
        values = [value for _, value in parts]
        fold = (min, max) if exclusive else (sum, sum)
        low = Fraction(fold[0]([Fraction(0), *(min(Fraction(0), value.low) for value in values)]))
        high = Fraction(fold[1]([Fraction(0), *(max(Fraction(0), value.high) for value in values)]))
        operation = Choice(parts)
        result = self._single(operation, name or str(operation), low, high, all(value.integer for value in values))
        if exclusive:
            self.assumptions.append(Assumption(result, low, high, f"at most one row of {result} fires"))
        return result

    def copy(self, value: Affine, back: int, *, name: str = "") -> Affine:
        """The value `back` tokens ago."""
        operation = Copy.of(self._stream, (value,), back)
        return self._attention(operation, operation.head, [name or f"{value}@-{back}"])[0]

    def match(
        self,
        *,
        keys: Forms,
        queries: Forms,
        values: Forms,
        where: Affine | None = None,
        unless: Affine | None = None,
        select: Select = "first",
        near: Affine | None = None,
        name: str = "",
    ) -> Affine:
        """The value at the first, last or nearest earlier token whose keys equal the current queries, else that at <s>."""
        operation = match(
            self._stream,
            _forms(keys),
            _forms(queries),
            _forms(values),
            where=where,
            unless=unless,
            select=select,
            near=near,
        )
        check_vanishing(self, operation.keys, where)
        require_flags([flag for flag in (where, unless) if flag is not None], "match")
        return self._attention(operation, operation.head, [name or f"{values} at match"])[0]

    def count_inverse(self, *, keys: Forms, queries: Forms, where: Affine | None = None, name: str = "") -> Affine:
        """1 / (m + 1) for m earlier tokens (the current one included) whose keys equal the current queries."""
        operation = CountInverse.of(self._stream, _forms(keys), _forms(queries), where)
        check_vanishing(self, operation.keys, where)
        require_flags([where] if where else [], "count_inverse")
        return self._attention(operation, operation.head, [name or "1 / (1 + count)"])[0]

    def invert(self, reciprocal: Affine, *, name: str = "") -> Affine:
        """The integer c of a `count_inverse` 1 / c."""
        operation = Invert.of(self._stream, reciprocal)
        return self._attention(operation, operation.head, [name or f"1 / ({reciprocal})"], integer=True)[0]

    def lag(self, value: Affine, back: int, *, name: str = "") -> Affine:
        """The value `back` tokens ago, 0 before the first token, from a linear unit."""
        chain = self._lags.setdefault(value.key, [])
        if not chain:
            first = self._linear(Accumulate(value, Fraction(0)), f"{name or value}[0]", value)
            chain.append(first)
        while len(chain) <= back:
            chain.append(self._delay(chain[-1], f"{name or value}[-{len(chain)}]"))
        return Affine.of(chain[back])

    def running_sum(self, value: Affine, *, name: str = "", high: int | None = None) -> Affine:
        """The sum of the values so far; `high` claims a bound (at most N tokens give N times the value's)."""
        bound = value.magnitude * self.capacity if high is None else Fraction(high)
        low = Fraction(0) if value.low >= 0 else -bound
        operation = Accumulate(value, Fraction(1))
        register = self._place_one(operation, name or str(operation), low, bound, value.integer)
        form = Affine.of(register)
        return form if high is None else self.assume(form, low, bound, because=f"{register.name} stays below {high}")

    def decay(self, value: Affine, rate: Fraction, *, name: str = "") -> Affine:
        """The sum of rate^(t - s) value_s, for a rate that is a power of 1/2."""
        bound = value.magnitude / (1 - rate)
        low = Fraction(0) if value.low >= 0 else -bound
        operation = Accumulate(value, rate)
        return Affine.of(self._place_one(operation, name or str(operation), low, bound, integer=False))

    def emit_number(self, value: Affine, *, when: Forms = ()) -> None:
        """Generate the number token `value` if all flags are 1."""
        self._emit(_forms(when), None, value)

    def emit(self, token: str, *, when: Forms = ()) -> None:
        """Generate a special token if all flags are 1."""
        self.special(token)
        self._emit(_forms(when), token, Affine.of(1))

    def emit_logit(self, token: str, value: Affine, *, when: Forms = ()) -> None:
        """Add `value` to a special token's logit if all flags are 1: the argmax takes the last decision."""
        self.special(token)
        self._emit(_forms(when), token, value)

    def emit_product(self, token: str, times: Affine, value: Affine) -> None:
        """Add `times` * `value` to a special token's logit, for a factor `times` that is never negative."""
        if times.low < 0:
            raise CertificateError(
                f"Program {self.name} multiplies a logit by {times}, which may be {times.low}; ReLU would cut it off."
            )
        self.special(token)
        self.emissions.append(Emission((), token, value, times))

    def _emit(self, flags: tuple[Affine, ...], token: str | None, value: Affine) -> None:
        require_flags(flags, "emit")
        self.emissions.append(Emission(flags, token, value))

    def _require_integer(self, x: Affine, what: str) -> None:
        if not x.integer:
            raise CertificateError(
                f"{what} of program {self.name} needs an integer, but {x} may be fractional: "
                f"its hat would be hit between two corners; compute the integer first (invert)."
            )

    def _single(self, operation: Operation, name: str, low: Fraction, high: Fraction, integer: bool) -> Affine:
        return Affine.of(self._place_one(operation, name, low, high, integer))

    def _place_one(self, operation: Operation, name: str, low: Fraction, high: Fraction, integer: bool) -> Register:
        return self._place(operation, [(name, Fraction(low), Fraction(high), integer)])[0]

    def _attention(
        self, operation: Operation, head: Head, names: list[str], *, integer: bool | None = None
    ) -> list[Affine]:
        check_head(self, str(operation), head)
        specs = []
        for name, value in zip(names, head.values, strict=True):
            whole = value.integer if integer is None else integer
            whole = whole and not isinstance(operation, CountInverse)
            specs.append((name, min(value.low, Fraction(0)), value.high, whole))
        return [Affine.of(register) for register in self._place(operation, specs)]

    def _linear(self, operation: Accumulate, name: str, value: Affine) -> Register:
        return self._place_one(
            operation, name, min(value.low, Fraction(0)), max(value.high, Fraction(0)), value.integer
        )

    def _delay(self, source: Register, name: str) -> Register:
        operation = Delay(source)
        coordinate = self._next_coordinate()
        register = Register(name, coordinate, source.stage, source.low, source.high, source.integer)
        self.at_begin[register] = Fraction(0)
        self.placed.append(Placed(operation, (register,), source.stage))
        return register

    def _place(
        self, operation: Operation, specs: Sequence[tuple[str, Fraction, Fraction, bool]]
    ) -> tuple[Register, ...]:
        """Put the operation into the first stage that can hold it and name its results (name, low, high, integer)."""
        ready = max((self._ready(form, operation) for form in operation.inputs), default=0)
        stage = stage_for(self.layout, operation.kind, ready=ready, what=f"{specs[0][0]} of program {self.name}")
        registers = []
        for name, low, high, integer in specs:
            registers.append(Register(name, self._next_coordinate() + len(registers), stage, low, high, integer))
        for register, column in zip(registers, operation.meaning(self._read_begin), strict=True):
            self.at_begin[register] = column[0]
        self.placed.append(Placed(operation, tuple(registers), stage))
        return tuple(registers)

    def _ready(self, form: Affine, operation: Operation) -> int:
        needs_one = operation.kind != "feed-forward" and form.constant != 0
        return max([register.stage for register in form.registers] + ([self.one.stage] if needs_one else [0]))

    def _next_coordinate(self) -> int:
        return FIRST_SPECIAL + len(self.specials) + sum(len(placed.results) for placed in self.placed)

    def _read_begin(self, form: Affine) -> Column:
        return [form.constant + sum((c * self.at_begin[register] for register, c in form.terms), Fraction(0))]

    def value_at_begin(self, form: Affine) -> Fraction:
        """The value of a form at position 1, where the token is always <s>."""
        return self._read_begin(form)[0]

    @property
    def n_layers(self) -> int:
        """Number of layers: the last stage that anything needs, the emission included."""
        if self.layout.n_layers is not None:
            return self.layout.n_layers
        ready = [register.stage for row in self.emissions for form in row.forms for register in form.registers]
        return max([*(placed.stage + 1 for placed in self.placed), 2 * (max(ready, default=0) // 2 + 1)]) // 2

    @property
    def n_registers(self) -> int:
        """Coordinates in use: readout, registers and the position."""
        return self._next_coordinate() + 1

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.n_layers} layers, {self.n_registers} coordinates, N = {self.capacity}"]
        for layer in range(1, self.n_layers + 1):
            for stage, part in ((2 * layer - 1, self.layout.mixer(layer)), (2 * layer, "feed-forward")):
                rows = _shown([placed for placed in self.placed if placed.stage == stage])
                if stage == 2 * self.n_layers:
                    rows += [f"emit {row}" for row in self.emissions]
                lines += [
                    f"{f'layer {layer}' if i == 0 else '':<9}{part if i == 0 else '':<14}{row}"
                    for i, row in enumerate(rows)
                ]
        return "\n".join(lines)


def _shown(placed: Sequence[Placed]) -> list[str]:
    """One line for each operation, and one for all delays of a chain."""
    lines: list[str] = []
    for is_delay, group in groupby(placed, key=lambda one: isinstance(one.operation, Delay)):
        members = list(group)
        if is_delay:
            lines += [f"{members[0].results[0].name} ... {members[-1].results[0].name} = one token ago each"]
        else:
            lines += [str(one) for one in members]
    return lines
