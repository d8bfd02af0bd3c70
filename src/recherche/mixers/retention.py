"""RetNet's retention: linear attention that forgets at a fixed rate, a different one for each head.

    b batch   t tokens   h heads   k d_head

    q_t, k_t, v_t, g_t = parts of W x_t                q and k rotated to position t (RoPE)
    S_t = gamma S_{t-1} + k_t v_t^T / sqrt(k)          gamma = 1 - 2^(-5 - i) for head i
    y_t = W_o [ norm(S_t^T q_t) silu(g_t) ]            the norm is that of each head

    state   S of every head and the number of tokens read: k^2 numbers a head, and one integer

Reference: Sun et al. (2023), Retentive Network, https://arxiv.org/abs/2307.08621
"""

from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor
from torch.nn.functional import silu
from typing_extensions import override

from recherche.errors import ConfigError
from recherche.kernels.decayed_attention import decayed_attention
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import HeadNorm, from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default
from recherche.mixers.rotary import RotaryTable, rotate


@final
class RetentionLayer(LayerConfig):
    """Retention with `n_heads` heads.

    Attributes:
        rope_base: slowest rotation is about 1/rope_base radians a token.
    """

    mixer: Literal["retention"] = "retention"
    n_heads: int = Field(default=4, ge=1)
    rope_base: float = Field(default=10_000.0, gt=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "Retention":
        return Retention(d_model, self, generator=generator)


class RetentionState(NamedTuple):
    """The decayed sum of k v^T, and how many tokens were read."""

    sums: Float[Tensor, "b h k k"]
    num_read: Int[Tensor, "b 1"]


@final
class Retention(AbstractMixer):
    """Multi-scale retention."""

    def __init__(self, d_model: int, config: RetentionLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        self.n_heads, self.d_head = config.n_heads, head_size(d_model, config.n_heads, what="Retention")
        if self.d_head % 2:
            raise ConfigError(
                f"Retention rotates pairs and needs heads of even size, got {self.d_head}; change n_heads."
            )
        self.qkvg_proj = Projection(d_model, (d_model,) * 4, generator=generator)
        self.norm = HeadNorm(self.d_head)
        self.out_proj = Projection(d_model, (d_model,), generator=generator)
        self.rotary = RotaryTable(self.d_head, config.rope_base)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> RetentionState:
        like = self.out_proj.weight
        dtype, device = dtype or like.dtype, device or like.device
        return RetentionState(
            torch.zeros(batch, self.n_heads, self.d_head, self.d_head, dtype=dtype, device=device),
            torch.zeros(batch, 1, dtype=torch.int64, device=device),
        )

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: RetentionState) -> tuple[Float[Tensor, "b d"], RetentionState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: RetentionState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], RetentionState]:
        if state is None:
            state = self.init_state(x.shape[0])
        b, t, _ = x.shape
        *qkv, gate = self.qkvg_proj(x).chunk(4, dim=-1)
        q, k, v = (to_heads(part, self.n_heads) for part in qkv)
        table = self.rotary.upto(int(state.num_read.max()) + t, x)
        q, k = rotate(q, table, state.num_read), rotate(k, table, state.num_read)
        is_padding = padding(x, lengths)
        k = (k * self.d_head**-0.5).masked_fill(is_padding, 0.0)
        rates = torch.log1p(-(2.0 ** (-5 - torch.arange(self.n_heads, dtype=x.dtype, device=x.device))))
        log_decay = rates[:, None, None].expand(b, -1, t, 1).masked_fill(is_padding, 0.0)
        y, sums = decayed_attention(q, k, v, log_decay, state.sums)
        num_read = state.num_read + (t if lengths is None else lengths[:, None])
        return self.out_proj(from_heads(self.norm(y)) * silu(gate)), RetentionState(sums, num_read)
