"""Linear maps of the hidden stream, and where their first weights come from.

A fused projection is several maps stacked into one weight, so that one matrix product computes them all; it remembers
the row blocks it is made of, for optimisers that treat a weight as a matrix (Muon).
"""

import math
from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear


def generator_or_default(generator: torch.Generator | None) -> torch.Generator:
    """`generator`, or a new one with seed 0: initialisation never draws from torch's global generator."""
    return torch.Generator().manual_seed(0) if generator is None else generator


def uniform(*shape: int, bound: float, generator: torch.Generator) -> nn.Parameter:
    """A weight with entries uniform in [-bound, bound]."""
    return nn.Parameter((torch.rand(*shape, generator=generator) * 2 - 1) * bound)


@final
class Projection(nn.Module):
    """x -> W x with W of shape (sum(blocks), d_in), its first entries uniform in +-1/sqrt(d_in)."""

    def __init__(self, d_in: int, blocks: Sequence[int], *, generator: torch.Generator) -> None:
        super().__init__()
        self.blocks = tuple(blocks)
        self.weight = uniform(sum(blocks), d_in, bound=1 / math.sqrt(d_in), generator=generator)

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """All blocks of W x, side by side in the last axis."""
        return linear(x, self.weight)
