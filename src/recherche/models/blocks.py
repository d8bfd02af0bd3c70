"""The parts of a layer around its sequence mixer: RMSNorm, SwiGLU, and the two residual branches.

    x <- x + mixer(norm(x))
    x <- x + W_down [ silu(W_gate norm(x)) * W_up norm(x) ]         if the layer has a channel mixer

Reference: Zhang & Sennrich (2019), RMSNorm, https://arxiv.org/abs/1910.07467; Shazeer (2020), SwiGLU,
https://arxiv.org/abs/2002.05202; Touvron et al. (2023), LLaMA, https://arxiv.org/abs/2302.13971
"""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from recherche.kernels.rms_norm import rms_norm
from recherche.kernels.swiglu import swiglu
from recherche.mixers.base import LayerConfig, State
from recherche.mixers.projection import Projection


@final
class RMSNorm(nn.Module):
    """x / rms(x) times a learned vector."""

    def __init__(self, d_model: int, *, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """Vectors of mean square 1, each coordinate times its weight."""
        return rms_norm(x, self.weight, eps=self.eps)


@final
class SwiGLU(nn.Module):
    """The channel mixer of LLaMA; the gate and the value come from one fused projection."""

    def __init__(self, d_model: int, d_ffn: int, *, generator: torch.Generator) -> None:
        super().__init__()
        self.gate_up_proj = Projection(d_model, (d_ffn, d_ffn), generator=generator)
        self.out_proj = Projection(d_ffn, (d_model,), generator=generator)

    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """W_down [ silu(W_gate x) * W_up x ]."""
        return self.out_proj(swiglu(self.gate_up_proj(x)))


@final
class Block(nn.Module):
    """One layer: a sequence mixer and perhaps a channel mixer, each before its norm on a residual branch."""

    def __init__(self, d_model: int, config: LayerConfig, *, eps: float, generator: torch.Generator) -> None:
        super().__init__()
        self.norm = RMSNorm(d_model, eps=eps)
        self.mixer = config.build(d_model, generator)
        self.ffn_norm = RMSNorm(d_model, eps=eps) if config.d_ffn else None
        self.ffn = SwiGLU(d_model, config.d_ffn, generator=generator) if config.d_ffn else None

    def forward(
        self, x: Float[Tensor, "b t d"], state: State | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], State]:
        """The residual stream after this layer, and the mixer's state after the last real token of each row."""
        y, state = self.mixer(self.norm(x), state, lengths=lengths)
        return self._channels(x + y), state

    def step(self, x_t: Float[Tensor, "b d"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        """The residual stream after this layer for one token, and the mixer's state."""
        y_t, state = self.mixer.step(self.norm(x_t), state)
        return self._channels(x_t + y_t), state

    def _channels(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        if self.ffn is None or self.ffn_norm is None:
            return x
        return x + self.ffn(self.ffn_norm(x))
