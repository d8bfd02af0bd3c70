"""Parts that several mixers are made of: heads, padding, a short convolution, a norm for each head.

The short convolution y_t = sum_{j < k} w_j x_{t-k+1+j} + bias is causal and depthwise; what it remembers of the past
are the last k - 1 inputs, which belong to the state of the mixer that uses it.

Reference: Poli et al. (2023), Hyena, Section 3.3 (short convolutions), https://arxiv.org/abs/2302.10866
"""

import math
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from recherche.errors import ConfigError
from recherche.mixers.projection import uniform


def head_size(width: int, n_heads: int, *, what: str) -> int:
    """Numbers of one head.

    Raises:
        ConfigError: the heads do not divide the width.
    """
    if width % n_heads:
        raise ConfigError(f"{what} needs n_heads that divide its width {width}, got {n_heads}; choose a divisor.")
    return width // n_heads


def to_heads(x: Float[Tensor, "b t d"], n_heads: int) -> Float[Tensor, "b h t k"]:
    """The last axis cut into heads, heads before tokens."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def from_heads(x: Float[Tensor, "b h t k"]) -> Float[Tensor, "b t d"]:
    """The reverse of `to_heads`."""
    return x.transpose(1, 2).flatten(2)


def padding(x: Float[Tensor, "b t d"], lengths: Int[Tensor, " b"] | None) -> Bool[Tensor, "b 1 t 1"]:
    """True at padding, shaped to be broadcast over heads."""
    if lengths is None:
        return torch.zeros(1, 1, 1, 1, dtype=torch.bool, device=x.device).expand(x.shape[0], 1, x.shape[1], 1)
    return (torch.arange(x.shape[1], device=x.device) >= lengths[:, None])[:, None, :, None]


def last_inputs(
    window: Float[Tensor, "b e w"], x: Float[Tensor, "b t e"], lengths: Int[Tensor, " b"] | None
) -> Float[Tensor, "b e w"]:
    """The last w inputs of each row, up to its last real token; older ones come from `window`."""
    w, t = window.shape[2], x.shape[1]
    if lengths is None:
        return x[:, t - w :].mT if t >= w else torch.cat([window[:, :, t:], x.mT], dim=2)
    index = lengths[:, None] + torch.arange(w, device=x.device)
    return torch.cat([window, x.mT], dim=2).gather(2, index[:, None].expand(-1, x.shape[2], -1))


@final
class ShortConvolution(nn.Module):
    """A causal depthwise convolution over a few tokens."""

    def __init__(self, n_channels: int, n_taps: int, *, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = uniform(n_channels, n_taps, bound=1 / math.sqrt(n_taps), generator=generator)
        self.bias = uniform(n_channels, bound=1 / math.sqrt(n_taps), generator=generator)

    def init_window(self, batch: int, like: Tensor) -> Float[Tensor, "b e w"]:
        """The inputs before the first token: zeros."""
        n_channels, n_taps = self.weight.shape
        return like.new_zeros(batch, n_channels, n_taps - 1)

    def forward(
        self, x: Float[Tensor, "b t e"], window: Float[Tensor, "b e w"], lengths: Int[Tensor, " b"] | None
    ) -> tuple[Float[Tensor, "b t e"], Float[Tensor, "b e w"]]:
        """Outputs, and the inputs that the next tokens need."""
        # A product for each tap, on contiguous channels: on a CPU torch's depthwise convolution takes longer, for one
        # token several times as long.
        past_and_present = torch.cat([window.mT, x], dim=1)
        y = self.bias.expand_as(x)
        for tap, weight in enumerate(self.weight.unbind(1)):
            y = torch.addcmul(y, past_and_present[:, tap : tap + x.shape[1]], weight)
        return y, last_inputs(window, x, lengths)


@final
class HeadNorm(nn.Module):
    """RMSNorm of each head by itself, with one learned vector for all."""

    def __init__(self, d_head: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_head))
        self.eps = eps

    def forward(self, x: Float[Tensor, "b h t k"]) -> Float[Tensor, "b h t k"]:
        """Heads of mean square 1, each coordinate times its weight."""
        return nn.functional.rms_norm(x, self.weight.shape, self.weight, self.eps)
