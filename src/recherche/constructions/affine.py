"""Affine forms over named registers: what a weight matrix with a bias can read from the residual stream.

A register is one coordinate of the residual stream, written once by one operation. An affine form is a finite sum of
registers with rational coefficients and a constant. Both carry what the contracts of `program.py` need to know while a
program is assembled: an interval that holds every value, whether all values are integers, and the stage (see
`layout.py`) at which they exist.

Reference: Lindner et al. (2023), Tracr: compiled Transformers, https://arxiv.org/abs/2301.05062
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Union, final

Scalar = int | Fraction

_SHOWN_TERMS = 6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """One coordinate of the residual stream.

    Attributes:
        coordinate: its place in the residual stream; -1 is the last one.
        stage: the stage after which it holds its value.
        low: no value is smaller.
        high: no value is larger.
        integer: whether every value is an integer.
    """

    name: str
    coordinate: int
    stage: int
    low: Fraction
    high: Fraction
    integer: bool


@final
@dataclass(frozen=True, slots=True)
class Affine:
    """constant + sum of coefficient * register, with an interval [low, high] that holds every value.

    Two forms are equal if they have the same terms, whatever is known of their intervals.
    """

    terms: tuple[tuple[Register, Fraction], ...]
    constant: Fraction
    low: Fraction
    high: Fraction

    @staticmethod
    def of(value: Union["Affine", Register, Scalar]) -> "Affine":
        """The form that is just this number or register."""
        if isinstance(value, Affine):
            return value
        if isinstance(value, Register):
            return Affine(((value, Fraction(1)),), Fraction(0), value.low, value.high)
        return Affine((), Fraction(value), Fraction(value), Fraction(value))

    @property
    def registers(self) -> tuple[Register, ...]:
        """The registers that it reads."""
        return tuple(register for register, _ in self.terms)

    @property
    def integer(self) -> bool:
        """Whether every value is an integer."""
        return self.constant.denominator == 1 and all(
            register.integer and coefficient.denominator == 1 for register, coefficient in self.terms
        )

    @property
    def flag(self) -> bool:
        """Whether every value is 0 or 1."""
        return self.integer and self.low >= 0 and self.high <= 1

    @property
    def magnitude(self) -> Fraction:
        """A bound on the absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def key(self) -> tuple:
        """What makes two forms the same function of the registers."""
        return self.terms, self.constant

    def within(self, low: Scalar, high: Scalar) -> "Affine":
        """The same form, known to lie in a smaller interval."""
        return Affine(self.terms, self.constant, max(self.low, Fraction(low)), min(self.high, Fraction(high)))

    def __add__(self, other: Union["Affine", Scalar]) -> "Affine":
        right = Affine.of(other)
        terms = dict(self.terms)
        for register, coefficient in right.terms:
            terms[register] = terms.get(register, Fraction(0)) + coefficient
        return _build(terms.items(), self.constant + right.constant, self.low + right.low, self.high + right.high)

    def __mul__(self, scalar: Scalar) -> "Affine":
        ends = (self.low * scalar, self.high * scalar)
        scaled = ((register, coefficient * scalar) for register, coefficient in self.terms)
        return _build(scaled, self.constant * scalar, min(ends), max(ends))

    def __neg__(self) -> "Affine":
        return self * -1

    def __sub__(self, other: Union["Affine", Scalar]) -> "Affine":
        return self + -Affine.of(other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Scalar) -> "Affine":
        return -self + other

    def __str__(self) -> str:
        if len(self.terms) > _SHOWN_TERMS:
            return f"{len(self.terms)} terms from {self.terms[0][0].name} to {self.terms[-1][0].name}"
        constant = [("", self.constant)] if self.constant or not self.terms else []
        terms = sorted([(r.name, c) for r, c in self.terms] + constant, key=lambda term: term[1] < 0)
        text = "".join(_shown_term(name, coefficient) for name, coefficient in terms)
        return text.removeprefix(" + ") if text.startswith(" + ") else "-" + text.removeprefix(" - ")


def _build(terms: Iterable[tuple[Register, Fraction]], constant: Fraction, low: Fraction, high: Fraction) -> Affine:
    """A form whose interval is the better of `low, high` and what its registers say."""
    kept = tuple(
        sorted(((register, c) for register, c in terms if c), key=lambda term: (term[0].stage, term[0].coordinate))
    )
    lows = (c * (register.low if c > 0 else register.high) for register, c in kept)
    highs = (c * (register.high if c > 0 else register.low) for register, c in kept)
    return Affine(kept, constant, max(low, constant + sum(lows)), min(high, constant + sum(highs)))


def _shown_term(name: str, coefficient: Fraction) -> str:
    size = str(abs(coefficient)) if not name else "" if abs(coefficient) == 1 else f"{abs(coefficient)} "
    return f" {'-' if coefficient < 0 else '+'} {size}{name}"


def bracketed(form: Affine) -> str:
    """The form in brackets, unless it is a single register or number."""
    alone = len(form.terms) + (form.constant != 0) <= 1 and all(c == 1 for _, c in form.terms)
    return str(form) if alone else f"({form})"
