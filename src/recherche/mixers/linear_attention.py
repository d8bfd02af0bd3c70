"""Linear attention: the softmax replaced by a product of features, so that the past fits into one matrix.

    b batch   t tokens   h heads   k d_head

    q_t, k_t, v_t = W_q x_t, W_k x_t, W_v x_t          f(x) = elu(x) + 1 > 0
    S_t = S_{t-1} + f(k_t) v_t^T                       z_t = z_{t-1} + f(k_t)
    y_t = W_o [ S_t^T f(q_t) / (z_t . f(q_t)) ]

    state   S and z of every head, z as one more column of S: k (k + 1) numbers a head, however long the text

Reference: Katharopoulos et al. (2020), Transformers are RNNs, https://arxiv.org/abs/2006.16236
"""

from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor
from torch.nn.functional import elu
from typing_extensions import override

from recherche.kernels.decayed_attention import decayed_attention
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default


@final
class LinearAttentionLayer(LayerConfig):
    """Linear attention with `n_heads` heads."""

    mixer: Literal["linear-attention"] = "linear-attention"
    n_heads: int = Field(default=4, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "LinearAttention":
        return LinearAttention(d_model, self, generator=generator)


class LinearAttentionState(NamedTuple):
    """Sums over the past of f(k) v^T and, in the last column, of f(k)."""

    sums: Float[Tensor, "b h k m"]


@final
class LinearAttention(AbstractMixer):
    """Causal attention with the feature map elu + 1."""

    def __init__(self, d_model: int, config: LinearAttentionLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        self.n_heads, self.d_head = config.n_heads, head_size(d_model, config.n_heads, what="Linear attention")
        self.qkv_proj = Projection(d_model, (d_model, d_model, d_model), generator=generator)
        self.out_proj = Projection(d_model, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> LinearAttentionState:
        like = self.out_proj.weight
        size = (batch, self.n_heads, self.d_head, self.d_head + 1)
        return LinearAttentionState(torch.zeros(size, dtype=dtype or like.dtype, device=device or like.device))

    @override
    def step(
        self, x_t: Float[Tensor, "b d"], state: LinearAttentionState
    ) -> tuple[Float[Tensor, "b d"], LinearAttentionState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: LinearAttentionState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], LinearAttentionState]:
        if state is None:
            state = self.init_state(x.shape[0])
        q, k, v = (to_heads(part, self.n_heads) for part in self.qkv_proj(x).chunk(3, dim=-1))
        q, k = elu(q) + 1, (elu(k) + 1).masked_fill(padding(x, lengths), 0.0)
        with_one = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
        y, sums = decayed_attention(q, k, with_one, torch.zeros_like(q[..., :1]), state.sums)
        # A row whose every token is padding has met no key; its output means nothing but must be a number.
        weights = y[..., -1:].clamp(min=torch.finfo(y.dtype).tiny)
        return self.out_proj(from_heads(y[..., :-1] / weights)), LinearAttentionState(sums)
