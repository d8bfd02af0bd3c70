"""The classical gated RNNs, LSTM and GRU, from torch.

    b batch   t tokens   d width of the residual stream   n d_state   s the sigmoid

    LSTM   i, f, o = s(W x_t + U h_{t-1} + c), three gates;  g = tanh(W_g x_t + U_g h_{t-1} + c_g)
           c_t = f c_{t-1} + i g;   h_t = o tanh(c_t)
    GRU    r, z = s(W x_t + U h_{t-1} + c), two gates;   m = tanh(W_m x_t + c_m + r (U_m h_{t-1} + c'_m))
           h_t = (1 - z) m + z h_{t-1}

    y_t = W_o h_t

    state  h, and c of the LSTM: n or 2n numbers, however long the text

Reference: Hochreiter & Schmidhuber (1997), https://doi.org/10.1162/neco.1997.9.8.1735;
Cho et al. (2014), https://arxiv.org/abs/1406.1078
"""

import math
from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from typing_extensions import override

from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.projection import Projection, generator_or_default


@final
class LSTMLayer(LayerConfig):
    """An LSTM with `d_state` units."""

    mixer: Literal["lstm"] = "lstm"
    d_state: int = Field(default=64, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "GatedRNN":
        return GatedRNN(d_model, self.d_state, nn.LSTM, generator=generator)


@final
class GRULayer(LayerConfig):
    """A GRU with `d_state` units."""

    mixer: Literal["gru"] = "gru"
    d_state: int = Field(default=64, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "GatedRNN":
        return GatedRNN(d_model, self.d_state, nn.GRU, generator=generator)


class GRUState(NamedTuple):
    """The hidden vector."""

    h: Float[Tensor, "b n"]


class LSTMState(NamedTuple):
    """The hidden vector, and the cells."""

    h: Float[Tensor, "b n"]
    c: Float[Tensor, "b n"]


@final
class GatedRNN(AbstractMixer):
    """One of torch's recurrent networks, and a projection back to the residual stream."""

    def __init__(
        self,
        d_model: int,
        d_state: int,
        network: type[nn.LSTM] | type[nn.GRU],
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        # Built without memory and filled from the generator: torch's own constructor draws from the global one.
        self.network = network(d_model, d_state, batch_first=True, device="meta").to_empty(device="cpu")
        bound = 1 / math.sqrt(d_state)
        with torch.no_grad():
            for weight in self.network.parameters():
                weight.copy_((torch.rand(weight.shape, generator=generator) * 2 - 1) * bound)
        self.out_proj = Projection(d_state, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> GRUState | LSTMState:
        like = self.out_proj.weight
        zeros = torch.zeros(batch, like.shape[1], dtype=dtype or like.dtype, device=device or like.device)
        return LSTMState(zeros, zeros) if isinstance(self.network, nn.LSTM) else GRUState(zeros)

    @override
    def step(
        self, x_t: Float[Tensor, "b d"], state: GRUState | LSTMState
    ) -> tuple[Float[Tensor, "b d"], GRUState | LSTMState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: GRUState | LSTMState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], GRUState | LSTMState]:
        if state is None:
            state = self.init_state(x.shape[0])
        start = tuple(part[None] for part in state)
        before = start if isinstance(state, LSTMState) else start[0]
        if lengths is None:
            h, after = self.network(x, before)
        else:
            # torch packs no empty rows: read one token of them, and put their state back below.
            packed = pack_padded_sequence(x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
            h, after = self.network(packed, before)
            h, _ = pad_packed_sequence(h, batch_first=True, total_length=x.shape[1])
        parts = [part[0] for part in (after if isinstance(state, LSTMState) else (after,))]
        if lengths is not None:
            empty = (lengths == 0)[:, None]
            parts = [torch.where(empty, old, new) for old, new in zip(state, parts, strict=True)]
        return self.out_proj(h), type(state)(*parts)
