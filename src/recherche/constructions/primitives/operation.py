"""What every primitive says about itself: what it reads, what it writes, what that means exactly.

The meaning is stated in rational arithmetic and knows nothing of weights. `audit.py` holds the compiled model to it.

Reference: Wen, Dang & Lyu (2024), Appendix C.1, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final, runtime_checkable

from recherche.constructions.affine import Affine, Register
from recherche.constructions.layout import OperationKind

Column = list[Fraction]
"""One value for each position of a text."""

Reader = Callable[[Affine], Column]
"""The values of an affine form at all positions."""


@runtime_checkable
class Operation(Protocol):
    """One primitive, to be placed in one layer."""

    @property
    def kind(self) -> OperationKind:
        """Which part of a layer carries it out."""

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """What it reads from the residual stream."""

    def meaning(self, at: Reader) -> Column:
        """The exact result at every position; position i may read positions up to i only."""

    def __str__(self) -> str:
        """What it computes, in one line."""


@final
@dataclass(frozen=True, slots=True)
class Placed:
    """An operation with its result and its stage."""

    operation: Operation
    result: Register
    stage: int

    def __str__(self) -> str:
        shown = str(self.operation)
        return shown if shown == self.result.name else f"{self.result.name} = {shown}"
