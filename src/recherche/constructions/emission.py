"""What the last feed-forward writes: rows of a table, each a condition and a token, a number or a logit.

number v    [2v, -1] on the number coordinates: logit 2vi - i^2 for number i, largest at i = v by at least 1
token       1 on the token's coordinate: every other logit is 0
logit       any value on the token's coordinate, so that the argmax takes the last decision

Reference: Wen, Dang & Lyu (2024), Appendix A.3, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from recherche.constructions.affine import Affine
from recherche.constructions.model import FIRST_SPECIAL, NUMBER, SQUARE
from recherche.constructions.primitives.feed_forward import Unit, conjunction

ONE = Affine.of(1)


@final
@dataclass(frozen=True, slots=True)
class Emission:
    """One row of the table.

    Attributes:
        flags: the row acts if all of them are 1.
        token: the special token whose logit the value is added to; None for the number that the value is.
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

    def units(self, specials: tuple[str, ...]) -> list[tuple[Unit, int]]:
        """The units of the row and the coordinates they write to."""
        if self.token is None:
            return [(Unit(Fraction(2), self.gate, self.value), NUMBER), (Unit(Fraction(-1), self.gate, ONE), SQUARE)]
        return [(Unit(Fraction(1), self.gate, self.value), FIRST_SPECIAL + specials.index(self.token))]

    def __str__(self) -> str:
        condition = f" if {' and '.join(map(str, self.flags))}" if self.flags else ""
        if self.token is None:
            return f"number ({self.value}){condition}"
        if self.times is not None:
            return f"{self.token} with logit ({self.times}) ({self.value})"
        if self.value.key == ONE.key:
            return f"{self.token}{condition}"
        return f"{self.token} with logit ({self.value}){condition}"
