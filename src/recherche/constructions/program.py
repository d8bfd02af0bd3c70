"""The assembler: a program over named registers of the residual stream, checked while it is written.

    p = Program("ar-transformer", ("<s>",), 64, Transformer())
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
    exactness    every score is an integer below 2^53, by its interval; float64 makes no error.

What intervals cannot show (that two flags exclude each other) is claimed with `p.assume`, and checked by the audit.

Reference: Lindner et al. (2023), Tracr: compiled Transformers, https://arxiv.org/abs/2301.05062
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import final

from recherche.constructions.affine import Affine, Register, Scalar, bracketed
from recherche.constructions.contracts import check_head, check_vanishing, require_flags, require_integer
from recherche.constructions.emission import Emission
from recherche.constructions.layout import Layout
from recherche.constructions.primitives.attention import Copy, CountInverse, Head, Invert, Stream
from recherche.constructions.primitives.feed_forward import Choice, IsNonNegative, IsZero, Product
from recherche.constructions.primitives.linear_unit import Accumulate
from recherche.constructions.primitives.matching import Select, match
from recherche.constructions.primitives.operation import Operation
from recherche.constructions.registers import Range, Registers, in_words
from recherche.errors import CertificateError
from recherche.vocab import BEGIN

Forms = Affine | Sequence[Affine]
Row = tuple[Forms, Affine]


def _forms(forms: Forms) -> tuple[Affine, ...]:
    return (forms,) if isinstance(forms, Affine) else tuple(forms)


@final
class Program:
    """A program under construction; see the module.

    Args:
        specials: special tokens, <s> first.
        capacity: N, a bound on positions and number tokens.
        layout: which mixer each layer has.
    """

    def __init__(self, name: str, specials: tuple[str, ...], capacity: int, layout: Layout) -> None:
        if not specials or specials[0] != BEGIN:
            raise CertificateError(f"A program's first special token is {BEGIN}, got {specials!r}; put it first.")
        self.name = name
        self.specials = specials
        self.capacity = capacity
        self.layout = layout
        self.registers = Registers(name, specials, capacity, layout)
        self.emissions: list[Emission] = []
        self._squares = {self.number.key: Affine.of(self.registers.inputs["number^2"])}
        self._lags: dict[tuple, list[Register]] = {}
        self._stream = Stream(self.position, self.special(BEGIN), self.square, capacity)

    @property
    def number(self) -> Affine:
        """The number that the current token names, 0 for a special token."""
        return Affine.of(self.registers.inputs["number"])

    @property
    def position(self) -> Affine:
        """The position of the current token, counted from 1."""
        return Affine.of(self.registers.inputs["position"])

    def special(self, token: str) -> Affine:
        """1 at this special token, 0 elsewhere.

        Raises:
            CertificateError: the program has no such token.
        """
        if token not in self.specials:
            raise CertificateError(
                f"Program {self.name} has no special token {token!r}; it has {' '.join(self.specials)}."
            )
        return Affine.of(self.registers.inputs[token])

    def one_of(self, tokens: Sequence[str]) -> Affine:
        """1 at any of these special tokens; a position holds one token, so the sum of their flags is a flag."""
        return sum((self.special(token) for token in tokens), Affine.of(0)).within(0, 1)

    def code_of(self, tokens: Sequence[str]) -> Affine:
        """The place of the current token among these, counted from 0; 0 for any other token."""
        codes = (i * self.special(token) for i, token in enumerate(tokens))
        return sum(codes, Affine.of(0)).within(0, max(len(tokens) - 1, 0))

    def is_number(self) -> Affine:
        """1 at a number token."""
        return 1 - self.one_of(self.specials)

    def assume(self, form: Affine, low: Scalar, high: Scalar, *, because: str) -> Affine:
        """The same form, claimed to lie in [low, high]; the audit checks the claim at every position."""
        return self.registers.assume(form, low, high, because=because)

    def product(self, x: Affine, y: Affine, *, name: str = "") -> Affine:
        """x y."""
        ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
        low = min(ends) if x.key != y.key else max(Fraction(0), min(ends))
        operation = Product(x, y)
        return self._place(operation, Range(name or str(operation), low, max(ends), x.integer and y.integer))

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
        require_integer(x, f"is_zero of program {self.name}")
        operation = IsZero(x)
        return self._place(operation, Range(name or str(operation), Fraction(0), Fraction(1), integer=True))

    def is_nonnegative(self, x: Affine, *, name: str = "") -> Affine:
        """[x >= 0] of an integer."""
        require_integer(x, f"is_nonnegative of program {self.name}")
        operation = IsNonNegative(x)
        return self._place(operation, Range(name or str(operation), Fraction(0), Fraction(1), integer=True))

    def all_of(self, *flags: Affine, name: str = "") -> Affine:
        """1 if all flags are 1, else 0."""
        return self.choose((flags, Affine.of(1)), name=name or " and ".join(map(str, flags)))

    def choose(self, *rows: Row, name: str = "") -> Affine:
        """The value of the row whose flags are all 1, 0 if there is none; that two rows never fire is claimed."""
        parts = tuple((_forms(flags), value) for flags, value in rows)
        for flags, _ in parts:
            require_flags(flags, f"{name or 'choose'} of program {self.name}")
        values = [value for _, value in parts]
        low = min(Fraction(0), *(value.low for value in values))
        high = max(Fraction(0), *(value.high for value in values))
        operation = Choice(parts)
        shown = name or str(operation)
        result = self._place(operation, Range(shown, low, high, all(value.integer for value in values)))
        return self.assume(result, low, high, because=f"at most one row of {shown} fires") if len(rows) > 1 else result

    def copy(self, value: Affine, back: int, *, name: str = "") -> Affine:
        """The value `back` tokens ago."""
        operation = Copy.of(self._stream, value, back)
        return self._attend(operation, operation.head, name or f"{bracketed(value)}, {back} back", value.integer)

    def match(
        self,
        *,
        keys: Forms,
        queries: Forms,
        values: Affine,
        where: Affine | None = None,
        unless: Affine | None = None,
        select: Select = "first",
        near: Affine | None = None,
        name: str = "",
    ) -> Affine:
        """The value at the first, last or nearest token so far whose keys equal the current queries; else at <s>."""
        operation = match(
            self._stream,
            _forms(keys),
            _forms(queries),
            values,
            where=where,
            unless=unless,
            select=select,
            near=near,
        )
        check_vanishing(self.registers, operation.keys, where)
        require_flags([flag for flag in (where, unless) if flag is not None], f"{name or 'match'} of {self.name}")
        integer = values.integer and select != "nearest"
        return self._attend(operation, operation.head, name or f"{bracketed(values)} at match", integer)

    def count_inverse(self, *, keys: Forms, queries: Forms, where: Affine | None = None, name: str = "") -> Affine:
        """1 / (m + 1) for m tokens so far (the current one included) whose keys equal the current queries."""
        operation = CountInverse.of(self._stream, _forms(keys), _forms(queries), where)
        check_vanishing(self.registers, operation.keys, where)
        require_flags([where] if where else [], f"{name or 'count_inverse'} of {self.name}")
        return self._attend(operation, operation.head, name or "1 / (1 + count)", integer=False)

    def invert(self, reciprocal: Affine, *, name: str = "") -> Affine:
        """The integer c of a `count_inverse` 1 / c."""
        operation = Invert.of(self._stream, reciprocal)
        return self._attend(operation, operation.head, name or f"1 / {bracketed(reciprocal)}", integer=True)

    def lag(self, value: Affine, back: int, *, name: str = "") -> Affine:
        """The value `back` tokens ago, 0 before the first token, from a linear unit; `name` is the value's."""
        chain = self._lags.setdefault(value.key, [])
        shown = name or bracketed(value)
        if not chain:
            low, high = min(value.low, Fraction(0)), max(value.high, Fraction(0))
            first = self._place(Accumulate(value, Fraction(0)), Range(f"{shown}[0]", low, high, value.integer))
            chain.append(first.registers[0])
        while len(chain) <= back:
            chain.append(self.registers.place_delay(chain[-1], f"{shown}[-{len(chain)}]"))
        return Affine.of(chain[back])

    def running_sum(self, value: Affine, *, name: str = "", high: int | None = None) -> Affine:
        """The sum of the values so far; `high` claims a bound smaller than N times the value's."""
        bound = value.magnitude * self.capacity
        operation = Accumulate(value, Fraction(1))
        low = Fraction(0) if value.low >= 0 else -bound
        total = self._place(operation, Range(name or str(operation), low, bound, value.integer))
        return total if high is None else self.assume(total, low, high, because=f"{name} stays within {high}")

    def decay(self, value: Affine, rate: Fraction, *, name: str = "") -> Affine:
        """The sum of rate^(t - s) value_s, for a rate that is a power of 1/2."""
        bound = value.magnitude / (1 - rate)
        operation = Accumulate(value, rate)
        low = Fraction(0) if value.low >= 0 else -bound
        return self._place(operation, Range(name or str(operation), low, bound, integer=False))

    def emit_number(self, value: Affine, *, when: Forms = ()) -> None:
        """Generate the number token `value` if all flags are 1."""
        self._emit(_forms(when), None, value)

    def emit(self, token: str, *, when: Forms = ()) -> None:
        """Generate a special token if all flags are 1."""
        self._emit(_forms(when), token, Affine.of(1))

    def emit_logit(self, token: str, value: Affine, *, when: Forms = ()) -> None:
        """Add `value` to a special token's logit if all flags are 1: the argmax takes the last decision."""
        self._emit(_forms(when), token, value)

    def emit_product(self, token: str, times: Affine, value: Affine) -> None:
        """Add `times` * `value` to a special token's logit, for a factor `times` that is never negative.

        Raises:
            CertificateError: the factor may be negative.
        """
        if times.low < 0:
            raise CertificateError(
                f"Program {self.name} multiplies a logit by {times}, which may be {times.low}; ReLU would cut it off."
            )
        self.special(token)
        self.emissions.append(Emission((), token, value, times))

    def emit_code(self, tokens: Sequence[str], code: Affine, *, when: Forms = ()) -> None:
        """Generate the special token with this code: token i gets 2i code - i^2 + 1, the largest at i = code, by 1."""
        for i, token in enumerate(tokens):
            self.emit_logit(token, 2 * i * code + (1 - i * i), when=when)

    def _emit(self, flags: tuple[Affine, ...], token: str | None, value: Affine) -> None:
        require_flags(flags, f"emit of program {self.name}")
        if token is not None:
            self.special(token)
        self.emissions.append(Emission(flags, token, value))

    def _place(self, operation: Operation, result: Range) -> Affine:
        return self.registers.place(operation, result)

    def _attend(self, operation: Operation, head: Head, name: str, integer: bool) -> Affine:
        check_head(self.registers, str(operation), head)
        return self._place(operation, Range(name, min(head.value.low, Fraction(0)), head.value.high, integer))

    @property
    def n_layers(self) -> int:
        """Number of layers: the last one that anything needs, the table of emissions included."""
        if self.layout.n_layers is not None:
            return self.layout.n_layers
        read = [register.stage for row in self.emissions for form in row.forms for register in form.registers]
        last = max(placed.stage for placed in self.registers.placed)
        return max((last + 1) // 2, max(read, default=0) // 2 + 1)

    def __str__(self) -> str:
        coordinates = self.registers.n_coordinates
        lines = [f"{self.name}: {self.n_layers} layers, {coordinates} coordinates, N = {self.capacity}"]
        for stage in range(1, 2 * self.n_layers + 1):
            rows = in_words([placed for placed in self.registers.placed if placed.stage == stage])
            rows += [f"emit {row}" for row in self.emissions] if stage == 2 * self.n_layers else []
            layer = (stage + 1) // 2
            part = "feed-forward" if stage % 2 == 0 else self.layout.mixer(layer)
            lines += [
                f"{f'layer {layer}' if not i else '':<9}{part if not i else '':<14}{row}" for i, row in enumerate(rows)
            ]
        return "\n".join(lines)
