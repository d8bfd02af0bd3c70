"""Arithmetic with p bits: R_p, the numbers that the paper's models compute with.

A number of R_p has a sign, (p - 1) / 2 bits before the binary point and (p - 1) / 2 bits after it; an operation is
carried out exactly and its result rounded to the nearest such number, the largest one if it is too big:

    round(x) = clamp(round(x 2^f) / 2^f, -L, L)      f = (p - 1) / 2,  L = 2^f - 2^-f

This is fixed point, although the paper's text calls it floating point: its equation (5) has no exponent. A product of
two numbers of R_p has at most p - 1 bits before rounding, so float64, with its 53, holds every number of R_p
exactly for p <= 53; beyond that the rounding is the same rule applied to float64 results.

Reference: Wen, Dang & Lyu (2024), Appendix A.2, equation (5), https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from recherche.errors import ConfigError

EXACT_BITS = 53
"""Largest p for which every number of R_p is a float64."""


@final
@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Rounding to R_p, with p = `bits`.

    >>> FixedPoint(7)(torch.tensor([0.3, -9.0, 2.5])).tolist()
    [0.25, -7.875, 2.5]

    Raises:
        ConfigError: `bits` is even or smaller than 3.
    """

    bits: int

    def __post_init__(self) -> None:
        if self.bits < 3 or self.bits % 2 == 0:
            raise ConfigError(
                f"R_p has a sign and equally many bits before and after the point, so p is odd and at least 3, "
                f"got {self.bits}; try {max(3, self.bits + 1 - self.bits % 2)}."
            )

    @property
    def fraction_bits(self) -> int:
        """Bits after the binary point, as many as before it."""
        return (self.bits - 1) // 2

    @property
    def largest(self) -> float:
        """The largest number of R_p."""
        return 2.0**self.fraction_bits - 2.0**-self.fraction_bits

    def __call__(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """The nearest numbers of R_p; halves go to even, minus infinity (a masked score) stays."""
        scale = 2.0**self.fraction_bits
        rounded = torch.clamp(torch.round(x * scale) / scale, -self.largest, self.largest)
        return torch.where(torch.isneginf(x), x, rounded)
