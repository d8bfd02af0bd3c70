"""mLSTM, the matrix memory of xLSTM: linear attention with an exponential input gate and a forget gate.

    b batch   t tokens   h heads   k d_head

    q_t, k_t, v_t, o_t = parts of W x_t                k_t divided by sqrt(k)
    i_t, f_t = w_i . x_t + c_i, w_f . x_t + c_f        one number a head each; input gate exp(i), forget gate sigmoid(f)
    m_t = max(log sigmoid(f_t) + m_{t-1}, i_t)         the largest exponent so far: all below are divided by exp(m)
    S_t = exp(log sigmoid(f_t) + m_{t-1} - m_t) S_{t-1} + exp(i_t - m_t) k_t v_t^T         n_t alike, with k_t alone
    y_t = W_o [ norm( S_t^T q_t / max(|n_t . q_t|, exp(-m_t)) ) sigmoid(o_t) ]

    state   S and n of every head, n as one more column of S, and m: k (k + 1) + 1 numbers a head

m only keeps exp from overflowing: with c_t the running sum of log sigmoid(f), m_t - c_t is a running maximum of
i_s - c_s: all m are known at once, and the rest is linear attention with decay log sigmoid(f_t) + m_{t-1} - m_t.

Reference: Beck et al. (2024), xLSTM, Section 2.3 and Appendix A.3, https://arxiv.org/abs/2405.04517
"""

import math
from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from typing_extensions import override

from recherche.kernels.decayed_attention import decayed_attention
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import HeadNorm, from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default, uniform

_NEVER = -1e30
_FORGOTTEN = -100.0
"""A decay of exp(-100) leaves nothing; larger numbers would only cost the running sums their precision."""

_FIRST_FORGET_BIASES = (3.0, 6.0)


@final
class MLSTMLayer(LayerConfig):
    """An mLSTM with `n_heads` heads."""

    mixer: Literal["mlstm"] = "mlstm"
    n_heads: int = Field(default=4, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "MLSTM":
        return MLSTM(d_model, self, generator=generator)


class MLSTMState(NamedTuple):
    """The memory with the normaliser as its last column, and the exponent that both are divided by."""

    memory: Float[Tensor, "b h k m"]
    exponent: Float[Tensor, "b h"]


@final
class MLSTM(AbstractMixer):
    """The matrix memory of xLSTM."""

    def __init__(self, d_model: int, config: MLSTMLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        h = config.n_heads
        self.n_heads, self.d_head = h, head_size(d_model, h, what="mLSTM")
        self.qkvo_proj = Projection(d_model, (d_model,) * 4, generator=generator)
        self.gate_weight = uniform(2 * h, d_model, bound=1 / math.sqrt(d_model), generator=generator)
        self.gate_bias = nn.Parameter(torch.cat([torch.zeros(h), torch.linspace(*_FIRST_FORGET_BIASES, h)]))
        self.norm = HeadNorm(self.d_head)
        self.out_proj = Projection(d_model, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> MLSTMState:
        like = torch.empty(0, dtype=dtype or self.gate_bias.dtype, device=device or self.gate_bias.device)
        memory = like.new_zeros(batch, self.n_heads, self.d_head, self.d_head + 1)
        return MLSTMState(memory, like.new_full((batch, self.n_heads), _NEVER))

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: MLSTMState) -> tuple[Float[Tensor, "b d"], MLSTMState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self, x: Float[Tensor, "b t d"], state: MLSTMState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], MLSTMState]:
        if state is None:
            state = self.init_state(x.shape[0])
        *qkv, out_gate = self.qkvo_proj(x).chunk(4, dim=-1)
        q, k, v = (to_heads(part, self.n_heads) for part in qkv)
        is_padding = padding(x, lengths)
        gates = x @ self.gate_weight.t() + self.gate_bias
        write, forget = (to_heads(part, self.n_heads) for part in gates.chunk(2, dim=-1))
        write = write.masked_fill(is_padding, _NEVER)
        forget = logsigmoid(forget).masked_fill(is_padding, 0.0)
        exponents = _running_exponents(write, forget, state.exponent)
        before = torch.cat([state.exponent[..., None, None], exponents[:, :, :-1]], dim=2)
        k = k * self.d_head**-0.5 * (write - exponents).exp()
        with_one = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
        decay = (forget + before - exponents).clamp(min=_FORGOTTEN)
        y, memory = decayed_attention(q, k, with_one, decay, state.memory)
        y = y[..., :-1] / torch.maximum(y[..., -1:].abs(), (-exponents).clamp(max=80.0).exp())
        y = from_heads(self.norm(y)) * torch.sigmoid(out_gate)
        return self.out_proj(y), MLSTMState(memory, exponents[:, :, -1, 0])


def _running_exponents(
    write: Float[Tensor, "b h t 1"], forget: Float[Tensor, "b h t 1"], start: Float[Tensor, "b h"]
) -> Float[Tensor, "b h t 1"]:
    """m_t of all tokens: c_t + max(m_0, max over s <= t of i_s - c_s)."""
    total = forget.cumsum(dim=2)
    highest = torch.cat([start[..., None, None], write - total], dim=2).cummax(dim=2).values
    return total + highest[:, :, 1:]
