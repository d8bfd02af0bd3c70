"""Mamba: a diagonal state-space model whose step size, input and output maps depend on the token.

    b batch   t tokens   d width of the residual stream   e = expand * d channels   n state of a channel
    r rank of the step size, d/16 rounded up   k taps of the short convolution

    x, z      = halves of W_in x_t                                   2e channels
    u         = silu(conv(x))                                        depthwise, over the last k tokens
    dt', B, C = parts of W_x u;  dt = softplus(W_dt dt' + b)         r, n, n numbers; dt has e
    h_t       = exp(dt_t A) h_{t-1} + dt_t B_t u_t                   A = -exp(A_log), e x n
    y_t       = W_out [ (C_t . h_t + D u_t) silu(z_t) ]

    state     the last k - 1 inputs of the convolution, and h: e (k - 1 + n) numbers, however long the text

Reference: Gu & Dao (2023), Mamba, https://arxiv.org/abs/2312.00752; initialisation as in its code,
https://github.com/state-spaces/mamba/blob/main/mamba_ssm/modules/mamba_simple.py
"""

import math
from typing import ClassVar, Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from typing_extensions import override

from recherche.kernels.mamba_inner import mamba_inner
from recherche.kernels.mamba_plain import MambaWeights
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import last_inputs
from recherche.mixers.projection import Projection, generator_or_default, uniform

_DT_MIN, _DT_MAX, _DT_FLOOR = 1e-3, 1e-1, 1e-4


@final
class MambaLayer(LayerConfig):
    """A Mamba block; it needs no channel mixer after it.

    Attributes:
        d_state: n, numbers a channel remembers.
        expand: channels per unit of width.
        d_conv: k, taps of the convolution.
    """

    stands_alone: ClassVar[bool] = True

    mixer: Literal["mamba"] = "mamba"
    d_state: int = Field(default=16, ge=1)
    expand: int = Field(default=2, ge=1)
    d_conv: int = Field(default=4, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "SelectiveSSM":
        return SelectiveSSM(d_model, self, generator=generator)


class SelectiveSSMState(NamedTuple):
    """What a Mamba block remembers: the inputs that the convolution still needs, and the SSM's state."""

    window: Float[Tensor, "b e w"]
    ssm: Float[Tensor, "b e n"]


@final
class SelectiveSSM(AbstractMixer):
    """The sequence mixer of Mamba."""

    def __init__(self, d_model: int, config: MambaLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        e, n, k, r = config.expand * d_model, config.d_state, config.d_conv, math.ceil(d_model / 16)
        self.in_proj = Projection(d_model, (e, e), generator=generator)
        self.conv_weight = uniform(e, k, bound=1 / math.sqrt(k), generator=generator)
        self.conv_bias = uniform(e, bound=1 / math.sqrt(k), generator=generator)
        self.x_proj = Projection(e, (r + 2 * n,), generator=generator)
        self.dt_weight = uniform(e, r, bound=r**-0.5, generator=generator)
        self.dt_bias = nn.Parameter(_inverse_softplus(_log_uniform_steps(e, generator)))
        self.A_log = nn.Parameter(torch.arange(1, n + 1, dtype=torch.float32).log().repeat(e, 1))
        self.D = nn.Parameter(torch.ones(e))
        self.out_proj = Projection(e, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> SelectiveSSMState:
        (e, n), k = self.A_log.shape, self.conv_weight.shape[1]
        dtype, device = dtype or self.A_log.dtype, device or self.A_log.device
        return SelectiveSSMState(
            torch.zeros(batch, e, k - 1, dtype=dtype, device=device),
            torch.zeros(batch, e, n, dtype=dtype, device=device),
        )

    @override
    def step(
        self, x_t: Float[Tensor, "b d"], state: SelectiveSSMState
    ) -> tuple[Float[Tensor, "b d"], SelectiveSSMState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: SelectiveSSMState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], SelectiveSSMState]:
        xz = self.in_proj(x)
        y, ssm = mamba_inner(xz, self.weights(), *(state or ()), lengths=lengths)
        if state is None:
            state = self.init_state(x.shape[0])
        window = last_inputs(state.window, xz[..., : self.D.shape[0]], lengths)
        return self.out_proj(y), SelectiveSSMState(window, ssm)

    def weights(self) -> MambaWeights:
        """What lies between the two outer projections."""
        return MambaWeights(
            self.conv_weight, self.conv_bias, self.x_proj.weight, self.dt_weight, self.dt_bias, self.A_log, self.D
        )


def _log_uniform_steps(e: int, generator: torch.Generator) -> Float[Tensor, " e"]:
    """First step sizes, log-uniform in [0.001, 0.1]: channels of many time scales."""
    log_dt = torch.rand(e, generator=generator) * (math.log(_DT_MAX) - math.log(_DT_MIN)) + math.log(_DT_MIN)
    return log_dt.exp().clamp(min=_DT_FLOOR)


def _inverse_softplus(y: Float[Tensor, " e"]) -> Float[Tensor, " e"]:
    return y + torch.log(-torch.expm1(-y))
