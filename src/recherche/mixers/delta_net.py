"""DeltaNet and Gated DeltaNet: a state that, before it writes under a key, takes away what it held there.

    b batch   t tokens   h heads   k d_head   j taps of the short convolution

    q_t, k_t, v_t = silu(conv(W x_t)) in three parts   q and k of length 1 in each head
    b_t = sigmoid(W_b x_t)                             how much of the old value is replaced, one number a head
    a_t = exp(-exp(A) softplus(W_a x_t + c))           how much of the whole state is kept; 1 in DeltaNet
    S_t = a_t (I - b_t k_t k_t^T) S_{t-1} + b_t k_t v_t^T
    y_t = W_o [ norm(S_t^T q_t / sqrt(k)) ]            Gated DeltaNet: norm(...) silu(W_g x_t)

    state   the last j - 1 inputs of the convolution, and S of every head: 3 d (j - 1) + d k numbers

Reference: Yang et al. (2024), DeltaNet, https://arxiv.org/abs/2406.06484;
Yang, Kautz & Hatamizadeh (2025), Gated DeltaNet, https://arxiv.org/abs/2412.06464
"""

import math
from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize, silu, softplus
from typing_extensions import override

from recherche.kernels.delta_rule import delta_rule
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import HeadNorm, ShortConvolution, from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default, uniform


@final
class DeltaNetLayer(LayerConfig):
    """DeltaNet with `n_heads` heads.

    Attributes:
        d_conv: taps of the short convolution.
    """

    mixer: Literal["deltanet"] = "deltanet"
    n_heads: int = Field(default=4, ge=1)
    d_conv: int = Field(default=4, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "DeltaNet":
        return DeltaNet(d_model, (self.n_heads, self.d_conv), gate=None, generator=generator)


@final
class GatedDeltaNetLayer(LayerConfig):
    """Gated DeltaNet with `n_heads` heads.

    Attributes:
        d_conv: taps of the short convolution.
    """

    mixer: Literal["gated-deltanet"] = "gated-deltanet"
    n_heads: int = Field(default=4, ge=1)
    d_conv: int = Field(default=4, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "DeltaNet":
        generator = generator_or_default(generator)
        gate = _Gates(d_model, self.n_heads, generator=generator)
        return DeltaNet(d_model, (self.n_heads, self.d_conv), gate=gate, generator=generator)


class DeltaNetState(NamedTuple):
    """What the convolution still needs, and the matrix of every head."""

    window: Float[Tensor, "b e w"]
    memory: Float[Tensor, "b h k k"]


@final
class _Gates(nn.Module):
    """What Gated DeltaNet has beyond DeltaNet: forgetting, and a gate on the output."""

    def __init__(self, d_model: int, n_heads: int, *, generator: torch.Generator) -> None:
        super().__init__()
        self.decay_proj = Projection(d_model, (n_heads,), generator=generator)
        self.output_proj = Projection(d_model, (d_model,), generator=generator)
        # As in Mamba-2: rates uniform in [1, 16], first steps log-uniform in [0.001, 0.1].
        self.A_log = nn.Parameter((1 + 15 * torch.rand(n_heads, generator=generator)).log())
        steps = torch.exp(torch.rand(n_heads, generator=generator) * math.log(100) + math.log(1e-3))
        self.dt_bias = nn.Parameter(steps + torch.log(-torch.expm1(-steps)))

    def log_decay(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b h t 1"]:
        """log a_t."""
        return to_heads(-self.A_log.exp() * softplus(self.decay_proj(x) + self.dt_bias), len(self.A_log))


@final
class DeltaNet(AbstractMixer):
    """The delta rule over heads, gated or not."""

    def __init__(
        self, d_model: int, sizes: tuple[int, int], *, gate: _Gates | None, generator: torch.Generator | None = None
    ) -> None:
        """Draw fresh weights.

        Args:
            sizes: number of heads, taps of the convolution.
        """
        super().__init__()
        generator = generator_or_default(generator)
        self.n_heads, d_conv = sizes
        self.d_head = head_size(d_model, self.n_heads, what="DeltaNet")
        self.qkv_proj = Projection(d_model, (d_model, d_model, d_model), generator=generator)
        self.convolution = ShortConvolution(3 * d_model, d_conv, generator=generator)
        self.write_weight = uniform(self.n_heads, d_model, bound=1 / math.sqrt(d_model), generator=generator)
        self.gate = gate
        self.norm = HeadNorm(self.d_head)
        self.out_proj = Projection(d_model, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> DeltaNetState:
        weight = self.out_proj.weight
        like = torch.empty(0, dtype=dtype or weight.dtype, device=device or weight.device)
        memory = like.new_zeros(batch, self.n_heads, self.d_head, self.d_head)
        return DeltaNetState(self.convolution.init_window(batch, like), memory)

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: DeltaNetState) -> tuple[Float[Tensor, "b d"], DeltaNetState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: DeltaNetState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], DeltaNetState]:
        if state is None:
            state = self.init_state(x.shape[0])
        mixed, window = self.convolution(self.qkv_proj(x), state.window, lengths)
        q, k, v = (to_heads(part, self.n_heads) for part in silu(mixed).chunk(3, dim=-1))
        is_padding = padding(x, lengths)
        write = to_heads(torch.sigmoid(x @ self.write_weight.t()), self.n_heads).masked_fill(is_padding, 0.0)
        log_decay = torch.zeros_like(write) if self.gate is None else self.gate.log_decay(x)
        gates = (write, log_decay.masked_fill(is_padding, 0.0))
        q = normalize(q, dim=-1) * self.d_head**-0.5
        y, memory = delta_rule(q, normalize(k, dim=-1), v, gates, state.memory)
        y = from_heads(self.norm(y))
        if self.gate is not None:
            y = y * silu(self.gate.output_proj(x))
        return self.out_proj(y), DeltaNetState(window, memory)
