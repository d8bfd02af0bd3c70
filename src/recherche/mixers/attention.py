"""Softmax attention of LLaMA: every token looks at all earlier ones, so the state grows with the text.

    b batch   t tokens   d width of the residual stream   h query heads   g key/value heads (h/g share one)   k d_head

    q_t, k_t, v_t = W_q x_t, W_k x_t, W_v x_t          q and k rotated to position t (RoPE)
    y_t = W_o [ sum_{s <= t} softmax_s(q_t . k_s / sqrt(k)) v_s ]  over the heads

    state   k_s and v_s of all s <= t: 2 g k numbers a token

With `qk_norm`, q and k are divided by their root mean square and multiplied by a learned number before the rotation,
which keeps the logits of small models from growing without bound.

Reference: Vaswani et al. (2017), https://arxiv.org/abs/1706.03762; Touvron et al. (2023), LLaMA,
https://arxiv.org/abs/2302.13971; Henry et al. (2020), query-key normalisation, https://arxiv.org/abs/2010.04245
"""

from typing import ClassVar, Literal, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import rms_norm, scaled_dot_product_attention
from typing_extensions import override

from recherche.errors import ConfigError
from recherche.kernels.bridge import has_compiled_path
from recherche.kernels.rotary_heads import QK_EPS, Heads, rotary_heads
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.kv_cache import KVState
from recherche.mixers.projection import Projection, generator_or_default
from recherche.mixers.rotary import RotaryTable, rotate

QK_SCALE = 1.5
"""First value of the learned scale of normalised queries and keys."""


@final
class AttentionLayer(LayerConfig):
    """A LLaMA block: attention, then SwiGLU.

    Attributes:
        n_heads: query heads.
        n_kv_heads: key/value heads; None: as many as query heads.
        qk_norm: whether queries and keys are normalised, with a learned scale.
        rope_base: slowest rotation is about 1/rope_base radians a token.
    """

    state_grows: ClassVar[bool] = True

    mixer: Literal["attention"] = "attention"
    n_heads: int = Field(default=4, ge=1)
    n_kv_heads: int | None = Field(default=None, ge=1)
    qk_norm: bool = False
    rope_base: float = Field(default=10_000.0, gt=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "Attention":
        return Attention(d_model, self, generator=generator)


@final
class Attention(AbstractMixer):
    """Causal softmax attention over a growing state."""

    def __init__(self, d_model: int, config: AttentionLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        h, g = config.n_heads, config.n_kv_heads or config.n_heads
        if d_model % h or (d_model // h) % 2 or h % g:
            raise ConfigError(
                f"Attention needs d_model divisible into heads of even size and n_heads divisible by n_kv_heads, "
                f"got d_model={d_model}, n_heads={h}, n_kv_heads={g}; choose n_heads among the divisors of {d_model}."
            )
        generator = generator_or_default(generator)
        self.n_heads, self.n_kv_heads, self.d_head = h, g, d_model // h
        self.qkv_proj = Projection(d_model, (h * self.d_head, g * self.d_head, g * self.d_head), generator=generator)
        self.out_proj = Projection(h * self.d_head, (d_model,), generator=generator)
        self.qk_scale = nn.Parameter(torch.full((2, self.d_head), QK_SCALE)) if config.qk_norm else None
        self.rotary = RotaryTable(self.d_head, config.rope_base)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> KVState:
        weight = self.out_proj.weight
        empty = torch.empty(
            batch, self.n_kv_heads, 0, self.d_head, dtype=dtype or weight.dtype, device=device or weight.device
        )
        return KVState(empty, empty)

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: KVState) -> tuple[Float[Tensor, "b d"], KVState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self, x: Float[Tensor, "b t d"], state: KVState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], KVState]:
        fresh = state is None or state.columns == 0
        if state is None:
            state = self.init_state(x.shape[0])
        q, k, v = self._heads(x, state)
        state = state.append(k, v, lengths=lengths)
        # Right padding lies after every real token, so causality alone hides it while there is no prefix.
        y = scaled_dot_product_attention(
            q,
            state.keys,
            state.values,
            attn_mask=None if fresh else state.visible(x.shape[1]),
            is_causal=fresh and x.shape[1] > 1,
            enable_gqa=self.n_kv_heads != self.n_heads,
        )
        return self.out_proj(y.transpose(1, 2).flatten(2)), state

    def _heads(
        self, x: Float[Tensor, "b t d"], state: KVState
    ) -> tuple[Float[Tensor, "b h t k"], Float[Tensor, "b g t k"], Float[Tensor, "b g t k"]]:
        """Queries and keys, rotated, and values."""
        qkv = self.qkv_proj(x)
        table = self.rotary.upto(state.columns + x.shape[1], x)
        if has_compiled_path(qkv):
            starts = torch.as_tensor(state.next_positions()).flatten().expand(x.shape[0])
            return rotary_heads(qkv, self.qk_scale, table, starts, heads=Heads(self.n_heads, self.n_kv_heads))
        heads = qkv.unflatten(-1, (-1, self.d_head)).transpose(1, 2)
        q, k, v = heads.split((self.n_heads, self.n_kv_heads, self.n_kv_heads), dim=1)
        if self.qk_scale is not None:
            q = rms_norm(q, (self.d_head,), self.qk_scale[0], eps=QK_EPS)
            k = rms_norm(k, (self.d_head,), self.qk_scale[1], eps=QK_EPS)
        start = state.next_positions()
        return rotate(q, table, start), rotate(k, table, start), v
