"""RWKV-6's time mixing: linear attention with a decay that depends on the token, and a bonus for the present one.

    b batch   t tokens   h heads   k d_head   r rank of the decay

    m_z(x_t)   = x_t + (x_{t-1} - x_t) mu_z            a learned mixture with the token before (token shift)
    r, k, v, g = W_r m_r, W_k m_k, W_v m_v, W_g m_g
    w_t        = exp(-exp(c + W_2 tanh(W_1 m_w)))      in (0, 1), one number for each row of S
    y_t        = (S_{t-1} + diag(u) k_t v_t^T)^T r_t   u the bonus of the token that is being read
    S_t        = diag(w_t) S_{t-1} + k_t v_t^T
    out_t      = W_o [ norm(y_t) silu(g_t) ]           the norm is that of each head

    state      the last token's input, and S of every head: d + d k numbers, however long the text

Chosen over RWKV-7, whose state update is the delta rule (see `delta_net`) with more gates. Unlike in the paper, the
mixture coefficients mu do not depend on the token.

Reference: Peng et al. (2024), Eagle and Finch, Section 4, https://arxiv.org/abs/2404.05892
"""

from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import linear, silu
from typing_extensions import override

from recherche.kernels.decayed_attention import decayed_attention
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import HeadNorm, from_heads, head_size, last_inputs, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default

_NUM_MIXTURES = 5


@final
class RWKVLayer(LayerConfig):
    """RWKV-6 time mixing with `n_heads` heads.

    Attributes:
        decay_rank: rank of the map from a token to its decay.
    """

    mixer: Literal["rwkv6"] = "rwkv6"
    n_heads: int = Field(default=4, ge=1)
    decay_rank: int = Field(default=16, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "RWKV":
        return RWKV(d_model, self, generator=generator)


class RWKVState(NamedTuple):
    """The last input, and the decayed sum of k v^T."""

    last: Float[Tensor, "b d 1"]
    sums: Float[Tensor, "b h k k"]


@final
class RWKV(AbstractMixer):
    """The sequence mixer of RWKV-6."""

    def __init__(self, d_model: int, config: RWKVLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        self.n_heads, self.d_head = config.n_heads, head_size(d_model, config.n_heads, what="RWKV-6")
        share = torch.arange(d_model) / d_model
        self.mixtures = nn.Parameter((1 - share).repeat(_NUM_MIXTURES, 1))
        self.rkvg_proj = Projection(d_model, (d_model,) * 4, generator=generator)
        self.decay_in = Projection(d_model, (config.decay_rank,), generator=generator)
        self.decay_out = Projection(config.decay_rank, (d_model,), generator=generator)
        # First decays exp(-exp(c)) from 0.998 for the slowest row to 0.7 for the fastest.
        self.decay_bias = nn.Parameter(-6 + 5 * share)
        self.bonus = nn.Parameter(torch.rand(self.n_heads, 1, self.d_head, generator=generator))
        self.norm = HeadNorm(self.d_head)
        self.out_proj = Projection(d_model, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> RWKVState:
        like = torch.empty(0, dtype=dtype or self.bonus.dtype, device=device or self.bonus.device)
        sums = like.new_zeros(batch, self.n_heads, self.d_head, self.d_head)
        return RWKVState(like.new_zeros(batch, self.mixtures.shape[1], 1), sums)

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: RWKVState) -> tuple[Float[Tensor, "b d"], RWKVState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self, x: Float[Tensor, "b t d"], state: RWKVState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], RWKVState]:
        if state is None:
            state = self.init_state(x.shape[0])
        change = torch.cat([state.last.mT, x[:, :-1]], dim=1) - x
        mixed = [x + change * mixture for mixture in self.mixtures]
        weights = self.rkvg_proj.weight.split(self.rkvg_proj.blocks)
        *rkv, gate = (linear(part, weight) for part, weight in zip(mixed[:-1], weights, strict=True))
        r, k, v = (to_heads(part, self.n_heads) for part in rkv)
        log_decay = -torch.exp(self.decay_bias + self.decay_out(torch.tanh(self.decay_in(mixed[-1]))))
        is_padding = padding(x, lengths)
        log_decay = to_heads(log_decay, self.n_heads).masked_fill(is_padding, 0.0)
        kept = k.masked_fill(is_padding, 0.0)
        y, sums = self._before_present(r, kept, v, log_decay, state.sums)
        y = y + (r * self.bonus * k).sum(-1, keepdim=True) * v
        y = from_heads(self.norm(y)) * silu(gate)
        return self.out_proj(y), RWKVState(last_inputs(state.last, x, lengths), sums)

    @staticmethod
    def _before_present(
        r: Float[Tensor, "b h t k"],
        k: Float[Tensor, "b h t k"],
        v: Float[Tensor, "b h t k"],
        log_decay: Float[Tensor, "b h t k"],
        sums: Float[Tensor, "b h k k"],
    ) -> tuple[Float[Tensor, "b h t k"], Float[Tensor, "b h k k"]]:
        """S_{t-1}^T r_t for all t, and the last S.

        Reading r_t from S_{t-1} is reading r_{t+1} from S_t: the queries move one place ahead.
        """
        ahead = torch.cat([r[:, :, 1:], torch.zeros_like(r[:, :, :1])], dim=2)
        later, last = decayed_attention(ahead, k, v, log_decay, sums)
        return torch.cat([r[:, :, :1] @ sums, later[:, :, :-1]], dim=2), last
