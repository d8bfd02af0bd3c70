"""Rotary position embedding (RoPE): position l turns pair j of a head's coordinates by l * base^(-2j/k).

    (x_j, x_{j+k/2})  ->  (x_j cos - x_{j+k/2} sin,  x_j sin + x_{j+k/2} cos)

so the product of a rotated query and a rotated key depends on their distance alone. Pairs are (j, j + k/2), the order
of LLaMA in transformers, so that its weights can be copied unchanged.

Reference: Su et al. (2021), RoFormer, https://arxiv.org/abs/2104.09864
"""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

_SMALLEST_TABLE = 128


@final
class RotaryTable:
    """Cosines and sines of all positions met so far; it grows by doubling and is no part of a model's state."""

    def __init__(self, d_head: int, base: float) -> None:
        self.d_head = d_head
        self.base = base
        self._tables: dict[tuple[torch.dtype, torch.device], Float[Tensor, "2 positions half"]] = {}

    def upto(self, num_positions: int, like: Tensor) -> Float[Tensor, "2 positions half"]:
        """Cosines and sines of at least the first `num_positions` positions, typed and placed as `like` is."""
        key = (like.dtype, like.device)
        table = self._tables.get(key)
        if table is None or table.shape[1] < num_positions:
            size = max(_SMALLEST_TABLE, 2 * num_positions)
            rates = self.base ** (-torch.arange(0, self.d_head, 2, dtype=torch.float64) / self.d_head)
            angles = torch.arange(size, dtype=torch.float64)[:, None] * rates
            table = torch.stack([angles.cos(), angles.sin()]).to(device=like.device, dtype=like.dtype)
            self._tables[key] = table
        return table


def rotate(
    x: Float[Tensor, "b h t k"], table: Float[Tensor, "2 positions half"], start: int | Int[Tensor, "b 1"]
) -> Float[Tensor, "b h t k"]:
    """`x` turned to the positions start, start + 1, ...; `start` is one number or one for each row."""
    t = x.shape[2]
    if isinstance(start, int):
        cos, sin = table[:, start : start + t]
    else:
        index = (start + torch.arange(t, device=x.device)).flatten()
        cos, sin = table.index_select(1, index).unflatten(1, (-1, t))[:, :, None]
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)
