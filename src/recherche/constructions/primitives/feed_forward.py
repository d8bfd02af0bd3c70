"""What a ReGLU layer computes, one token at a time: products, comparisons, conjunctions, tables.

A unit is ReLU(gate) * value with affine gate and value; a result is a constant plus a weighted sum of units, which is
W_3 (ReLU(W_1 x + b_1) * (W_2 x + b_2)) + b_3. Each class states a function and the units that give it, with the proof.

Reference: Wen, Dang & Lyu (2024), Lemmas C.1-C.6, corrected as docs/errata.md lists, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final, runtime_checkable

from recherche.constructions.affine import Affine, bracketed
from recherche.constructions.layout import OperationKind
from recherche.constructions.primitives.operation import Column, Reader

ONE = Affine.of(1)


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """weight * ReLU(gate) * value."""

    weight: Fraction
    gate: Affine
    value: Affine


@runtime_checkable
class FeedForward(Protocol):
    """An operation that a ReGLU layer carries out."""

    @property
    def bias(self) -> Fraction:
        """The constant part of the result."""

    def units(self) -> tuple[Unit, ...]:
        """The units whose sum is the rest of the result."""


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """A constant register: b_3 alone. Keys, queries and linear units have no bias and read their constants there."""

    value: Fraction

    kind: OperationKind = "feed-forward"

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """Nothing."""
        return ()

    @property
    def bias(self) -> Fraction:
        """The constant."""
        return self.value

    def units(self) -> tuple[Unit, ...]:
        """None."""
        return ()

    def meaning(self, at: Reader) -> Column:
        """The constant at every position."""
        return [self.value] * len(at(ONE))

    def __str__(self) -> str:
        return str(self.value)


@final
@dataclass(frozen=True, slots=True)
class Product:
    """x y = ReLU(x) y - ReLU(-x) y, because ReLU(x) - ReLU(-x) = x. If x >= 0 is known, ReLU(x) y alone."""

    x: Affine
    y: Affine

    kind: OperationKind = "feed-forward"
    bias = Fraction(0)

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """Both factors."""
        return (self.x, self.y)

    def units(self) -> tuple[Unit, ...]:
        """One unit or two."""
        positive = Unit(Fraction(1), self.x, self.y)
        return (positive,) if self.x.low >= 0 else (positive, Unit(Fraction(-1), -self.x, self.y))

    def meaning(self, at: Reader) -> Column:
        """The product."""
        return [x * y for x, y in zip(at(self.x), at(self.y), strict=True)]

    def __str__(self) -> str:
        x = bracketed(self.x)
        return f"{x}^2" if self.x.key == self.y.key else f"{x} {bracketed(self.y)}"


@final
@dataclass(frozen=True, slots=True)
class IsZero:
    """[x = 0] = ReLU(x + 1) - 2 ReLU(x) + ReLU(x - 1) for integer x: a hat of width 1.

    At x = 0 the sum is 1 - 0 + 0; at x >= 1 it is (x + 1) - 2x + (x - 1) = 0; at x <= -1 all terms are 0.
    """

    x: Affine

    kind: OperationKind = "feed-forward"
    bias = Fraction(0)

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """The number."""
        return (self.x,)

    def units(self) -> tuple[Unit, ...]:
        """The three corners of the hat."""
        corners = ((1, 1), (-2, 0), (1, -1))
        return tuple(Unit(Fraction(weight), self.x + shift, ONE) for weight, shift in corners)

    def meaning(self, at: Reader) -> Column:
        """1 where the number is 0."""
        return [Fraction(x == 0) for x in at(self.x)]

    def __str__(self) -> str:
        return f"[{self.x} = 0]"


@final
@dataclass(frozen=True, slots=True)
class IsNonNegative:
    """[x >= 0] = ReLU(x + 1) - ReLU(x) for integer x: a step between -1 and 0."""

    x: Affine

    kind: OperationKind = "feed-forward"
    bias = Fraction(0)

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """The number."""
        return (self.x,)

    def units(self) -> tuple[Unit, ...]:
        """The two corners of the step."""
        return (Unit(Fraction(1), self.x + 1, ONE), Unit(Fraction(-1), self.x, ONE))

    def meaning(self, at: Reader) -> Column:
        """1 where the number is not negative."""
        return [Fraction(x >= 0) for x in at(self.x)]

    def __str__(self) -> str:
        return f"[{self.x} >= 0]"


def conjunction(flags: tuple[Affine, ...]) -> Affine:
    """f_1 + ... + f_k - (k - 1): its ReLU is 1 if all flags are 1, and 0 otherwise, because then it is at most 0."""
    return sum(flags[1:], flags[0]) - (len(flags) - 1) if flags else ONE


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """The sum over rows of value * [all flags of the row are 1], one unit a row: ReLU(conjunction) value.

    A table of a finite function is one row for each entry. Values of rows that do not fire are multiplied by 0, so
    they may be anything.
    """

    rows: tuple[tuple[tuple[Affine, ...], Affine], ...]

    kind: OperationKind = "feed-forward"
    bias = Fraction(0)

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """All flags and values."""
        return tuple(form for flags, value in self.rows for form in (*flags, value))

    def units(self) -> tuple[Unit, ...]:
        """One unit for each row."""
        return tuple(Unit(Fraction(1), conjunction(flags), value) for flags, value in self.rows)

    def meaning(self, at: Reader) -> Column:
        """The sum of the values whose flags are all 1."""
        total = [Fraction(0)] * len(at(ONE))
        for flags, value in self.rows:
            columns = [at(flag) for flag in flags]
            for i, v in enumerate(at(value)):
                if all(column[i] == 1 for column in columns):
                    total[i] += v
        return total

    def __str__(self) -> str:
        shown = [f"{value} if {' and '.join(map(str, flags)) or 'true'}" for flags, value in self.rows[:4]]
        return "; ".join(shown) + (f"; ... ({len(self.rows)} rows)" if len(self.rows) > 4 else "")
