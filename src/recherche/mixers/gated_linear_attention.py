"""GLA: linear attention in which the token decides how fast each row of the state is forgotten.

    b batch   t tokens   h heads   k d_head   r rank of the gate

    q_t, k_t, v_t, g_t = parts of W x_t
    a_t = sigmoid(W_2 W_1 x_t + c)^(1/16)              one number for each row of S, near 1
    S_t = diag(a_t) S_{t-1} + k_t v_t^T / sqrt(k)
    y_t = W_o [ norm(S_t^T q_t) silu(g_t) ]            the norm is that of each head

    state   S of every head: k^2 numbers a head, however long the text

Reference: Yang et al. (2024), Gated Linear Attention, https://arxiv.org/abs/2312.06635
"""

from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, silu
from typing_extensions import override

from recherche.kernels.decayed_attention import decayed_attention
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import HeadNorm, from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default

_TEMPERATURE = 16


@final
class GatedLinearAttentionLayer(LayerConfig):
    """GLA with `n_heads` heads.

    Attributes:
        gate_rank: rank of the map from a token to its decay.
    """

    mixer: Literal["gla"] = "gla"
    n_heads: int = Field(default=4, ge=1)
    gate_rank: int = Field(default=16, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "GatedLinearAttention":
        return GatedLinearAttention(d_model, self, generator=generator)


class GatedLinearAttentionState(NamedTuple):
    """The decayed sum of k v^T."""

    sums: Float[Tensor, "b h k k"]


@final
class GatedLinearAttention(AbstractMixer):
    """Linear attention with a decay that depends on the token and the row."""

    def __init__(
        self, d_model: int, config: GatedLinearAttentionLayer, *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        self.n_heads, self.d_head = config.n_heads, head_size(d_model, config.n_heads, what="GLA")
        self.qkvg_proj = Projection(d_model, (d_model,) * 4, generator=generator)
        self.decay_in = Projection(d_model, (config.gate_rank,), generator=generator)
        self.decay_out = Projection(config.gate_rank, (d_model,), generator=generator)
        self.decay_bias = nn.Parameter(torch.zeros(d_model))
        self.norm = HeadNorm(self.d_head)
        self.out_proj = Projection(d_model, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> GatedLinearAttentionState:
        like = self.out_proj.weight
        size = (batch, self.n_heads, self.d_head, self.d_head)
        return GatedLinearAttentionState(torch.zeros(size, dtype=dtype or like.dtype, device=device or like.device))

    @override
    def step(
        self, x_t: Float[Tensor, "b d"], state: GatedLinearAttentionState
    ) -> tuple[Float[Tensor, "b d"], GatedLinearAttentionState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: GatedLinearAttentionState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], GatedLinearAttentionState]:
        if state is None:
            state = self.init_state(x.shape[0])
        *qkv, gate = self.qkvg_proj(x).chunk(4, dim=-1)
        q, k, v = (to_heads(part, self.n_heads) for part in qkv)
        log_decay = logsigmoid(self.decay_out(self.decay_in(x)) + self.decay_bias) / _TEMPERATURE
        is_padding = padding(x, lengths)
        k = (k * self.d_head**-0.5).masked_fill(is_padding, 0.0)
        log_decay = to_heads(log_decay, self.n_heads).masked_fill(is_padding, 0.0)
        y, sums = decayed_attention(q, k, v, log_decay, state.sums)
        return self.out_proj(from_heads(self.norm(y)) * silu(gate)), GatedLinearAttentionState(sums)
