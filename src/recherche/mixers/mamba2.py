"""Mamba-2: a state-space model with one decay for each head, which makes it linear attention with forgetting (SSD).

    b batch   t tokens   e = expand * d channels   h heads of p = e/h channels   g groups that share B and C   n state

    z, xBC, dt' = parts of W_in x_t                    e, e + 2 g n, h numbers
    x, B, C     = silu(conv(xBC)) in three parts       depthwise, over the last j tokens
    dt          = softplus(dt' + b)                    a = exp(-exp(A_log) dt), one number a head
    S_t         = a S_{t-1} + B_t (dt x_t)^T           n x p for each head
    y_t         = W_out [ norm((S_t^T C_t + D x_t) silu(z_t)) ]      the norm is that of each group

    state   the last j - 1 inputs of the convolution, and S: (e + 2 g n)(j - 1) + e n numbers

Reference: Dao & Gu (2024), Transformers are SSMs, Sections 6 and 7, https://arxiv.org/abs/2405.21060
"""

import math
from typing import ClassVar, Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import rms_norm, silu, softplus
from typing_extensions import override

from recherche.errors import ConfigError
from recherche.kernels.decayed_attention import decayed_attention
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import ShortConvolution, from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default


@final
class Mamba2Layer(LayerConfig):
    """A Mamba-2 block; it needs no channel mixer after it.

    Attributes:
        d_state: n, rows of a head's state.
        expand: channels per unit of width.
        n_heads: heads that the channels are cut into.
        n_groups: groups of heads with their own B and C.
        d_conv: taps of the convolution.
        norm_eps: added to the mean square before the last projection.
    """

    stands_alone: ClassVar[bool] = True

    mixer: Literal["mamba2"] = "mamba2"
    d_state: int = Field(default=16, ge=1)
    expand: int = Field(default=2, ge=1)
    n_heads: int = Field(default=4, ge=1)
    n_groups: int = Field(default=1, ge=1)
    d_conv: int = Field(default=4, ge=1)
    norm_eps: float = Field(default=1e-5, gt=0)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "Mamba2":
        return Mamba2(d_model, self, generator=generator)


class Mamba2State(NamedTuple):
    """The inputs that the convolution still needs, and the state of every head."""

    window: Float[Tensor, "b e w"]
    ssm: Float[Tensor, "b h n p"]


@final
class Mamba2(AbstractMixer):
    """The sequence mixer of Mamba-2."""

    def __init__(self, d_model: int, config: Mamba2Layer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        e, h = config.expand * d_model, config.n_heads
        self.config = config
        self.d_head = head_size(e, h, what="Mamba-2")
        if h % config.n_groups:
            raise ConfigError(
                f"Mamba-2 needs n_groups that divide n_heads={h}, got {config.n_groups}; choose a divisor of {h}."
            )
        d_mixed = e + 2 * config.n_groups * config.d_state
        self.in_proj = Projection(d_model, (e, d_mixed, h), generator=generator)
        self.convolution = ShortConvolution(d_mixed, config.d_conv, generator=generator)
        # First steps log-uniform in [0.001, 0.1], stored through the inverse of softplus; rates uniform in [1, 16].
        steps = torch.exp(torch.rand(h, generator=generator) * math.log(100) + math.log(1e-3)).clamp(min=1e-4)
        self.dt_bias = nn.Parameter(steps + torch.log(-torch.expm1(-steps)))
        self.A_log = nn.Parameter((1 + 15 * torch.rand(h, generator=generator)).log())
        self.D = nn.Parameter(torch.ones(h))
        self.norm_weight = nn.Parameter(torch.ones(e))
        self.out_proj = Projection(e, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> Mamba2State:
        like = torch.empty(0, dtype=dtype or self.D.dtype, device=device or self.D.device)
        ssm = like.new_zeros(batch, self.config.n_heads, self.config.d_state, self.d_head)
        return Mamba2State(self.convolution.init_window(batch, like), ssm)

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: Mamba2State) -> tuple[Float[Tensor, "b d"], Mamba2State]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self, x: Float[Tensor, "b t d"], state: Mamba2State | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], Mamba2State]:
        if state is None:
            state = self.init_state(x.shape[0])
        config, e = self.config, self.norm_weight.shape[0]
        z, mixed, dt = self.in_proj(x).split(self.in_proj.blocks, dim=-1)
        mixed, window = self.convolution(mixed, state.window, lengths)
        d_group = config.n_groups * config.d_state
        u, B, C = silu(mixed).split((e, d_group, d_group), dim=-1)
        dt = to_heads(softplus(dt + self.dt_bias), config.n_heads).masked_fill(padding(x, lengths), 0.0)
        log_decay = -self.A_log.exp()[:, None, None] * dt
        heads = to_heads(u, config.n_heads)
        repeats = config.n_heads // config.n_groups
        B, C = (to_heads(part, config.n_groups).repeat_interleave(repeats, dim=1) for part in (B, C))
        y, ssm = decayed_attention(C, B, heads * dt, log_decay, state.ssm)
        y = from_heads(y + self.D[:, None, None] * heads)
        gated = (y * silu(z)).unflatten(-1, (config.n_groups, -1))
        y = rms_norm(gated, gated.shape[-1:], eps=config.norm_eps).flatten(-2) * self.norm_weight
        return self.out_proj(y), Mamba2State(window, ssm)
