"""What the linear unit h_t = A h_{t-1} + B x_t keeps: the last few values, a running sum, a decaying sum.

Each register of the state is one row of A and B. A does not depend on the input: a linear unit cannot forget on
demand, it can only shift, add up and decay.

    lag 0      h = x_t                       row of A zero
    lag j      h = (lag j - 1)_{t-1}         A = 1 at that register: a shift
    sum        h = h_{t-1} + x_t             A = 1 on the diagonal
    decay      h = h_{t-1} / b + x_t         A = 1 / b on the diagonal, so that nothing diverges

Reference: Wen, Dang & Lyu (2024), Lemmas C.20-C.23, corrected as docs/errata.md lists,
https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import final

from recherche.constructions.affine import Affine, Register
from recherche.constructions.layout import OperationKind
from recherche.constructions.primitives.operation import Column, Reader


@final
@dataclass(frozen=True, slots=True)
class Delay:
    """The value that a register of the same state held one token ago; 0 at the first token.

    By induction the j-th delay of lag 0 is x_{t-j}, and 0 for t <= j, because h_0 = 0.
    """

    source: Register

    kind: OperationKind = "linear"

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """Nothing of the current token."""
        return ()

    def meaning(self, at: Reader) -> Column:
        """The column of the source, shifted by one."""
        return [Fraction(0), *at(Affine.of(self.source))[:-1]]

    def __str__(self) -> str:
        return f"{self.source.name}, one token ago"


@final
@dataclass(frozen=True, slots=True)
class Accumulate:
    """sum over s <= t of rate^(t - s) x_s: lag 0 for rate 0, the running sum for rate 1, a decay in between."""

    value: Affine
    rate: Fraction

    kind: OperationKind = "linear"

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """What is added up."""
        return (self.value,)

    def meaning(self, at: Reader) -> Column:
        """The sum at every position."""
        return list(accumulate(at(self.value), lambda total, x: self.rate * total + x))

    def __str__(self) -> str:
        if self.rate == 0:
            return f"{self.value}"
        return f"sum of ({self.value})" if self.rate == 1 else f"sum of ({self.value}), decaying by {self.rate}"
