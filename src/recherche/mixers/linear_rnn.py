"""The paper's linear RNN block, with a diagonal and with a dense transition.

    b batch   t tokens   d width of the residual stream   n d_state

    h_t = A h_{t-1} + B x_t                            y_t = C h_t

    diagonal   A = diag(exp(-exp(a))): every coordinate forgets at its own fixed rate
    dense      A any n x n matrix, orthogonal at first, so that it neither grows nor fades

    state      h: n numbers, however long the text

The paper's block hands all of h on; C is the linear map back to the residual stream. The diagonal form is computed in
chunks, h_i = sum_{j <= i} A^{i-j} B x_j, whose powers are products of numbers at most 1.

Reference: Wen, Dang & Lyu (2024), Section 3, https://arxiv.org/abs/2402.18510; Orvieto et al. (2023), Resurrecting
Recurrent Neural Networks, Section 3 (ring initialisation), https://arxiv.org/abs/2303.06349
"""

from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from typing_extensions import override

from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.projection import Projection, generator_or_default

_CHUNK = 16
_SLOWEST, _FASTEST = 0.9, 0.999


@final
class DiagonalRNNLayer(LayerConfig):
    """A linear RNN whose coordinates do not meet."""

    mixer: Literal["linear-rnn"] = "linear-rnn"
    d_state: int = Field(default=64, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "DiagonalRNN":
        return DiagonalRNN(d_model, self, generator=generator)


@final
class DenseRNNLayer(LayerConfig):
    """A linear RNN with a full transition matrix."""

    mixer: Literal["dense-linear-rnn"] = "dense-linear-rnn"
    d_state: int = Field(default=64, ge=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "DenseRNN":
        return DenseRNN(d_model, self, generator=generator)


class LinearRNNState(NamedTuple):
    """The hidden vector."""

    h: Float[Tensor, "b n"]


@final
class DiagonalRNN(AbstractMixer):
    """h_t = a * h_{t-1} + B x_t."""

    def __init__(self, d_model: int, config: DiagonalRNNLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        self.in_proj = Projection(d_model, (config.d_state,), generator=generator)
        decay = torch.rand(config.d_state, generator=generator) * (_FASTEST - _SLOWEST) + _SLOWEST
        self.rate_log = nn.Parameter((-decay.log()).log())
        self.out_proj = Projection(config.d_state, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> LinearRNNState:
        like = self.rate_log
        return LinearRNNState(torch.zeros(batch, len(like), dtype=dtype or like.dtype, device=device or like.device))

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: LinearRNNState) -> tuple[Float[Tensor, "b d"], LinearRNNState]:
        h = torch.exp(-self.rate_log.exp()) * state.h + self.in_proj(x_t)
        return self.out_proj(h), LinearRNNState(h)

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: LinearRNNState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], LinearRNNState]:
        if state is None:
            state = self.init_state(x.shape[0])
        drive, h, rates = self.in_proj(x), state.h, -self.rate_log.exp()
        steps = torch.arange(_CHUNK, device=x.device)
        ages = steps[:, None] - steps
        powers = (rates * ages.clamp(min=0)[..., None]).exp() * (ages >= 0)[..., None]
        history = []
        for piece in drive.split(_CHUNK, dim=1):
            c = piece.shape[1]
            carried = (rates * (steps[:c] + 1)[:, None]).exp() * h[:, None]
            history.append(torch.einsum("ijn,bjn->bin", powers[:c, :c], piece) + carried)
            h = history[-1][:, -1]
        every = torch.cat(history, dim=1)
        return self.out_proj(every), LinearRNNState(at_last_token(every, state.h, lengths))


@final
class DenseRNN(AbstractMixer):
    """h_t = A h_{t-1} + B x_t."""

    def __init__(self, d_model: int, config: DenseRNNLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        n = config.d_state
        self.in_proj = Projection(d_model, (n,), generator=generator)
        q, r = torch.linalg.qr(torch.randn(n, n, generator=generator, dtype=torch.float64))
        self.transition = nn.Parameter((q * r.diagonal().sign()).float())
        self.out_proj = Projection(n, (d_model,), generator=generator)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> LinearRNNState:
        like = self.transition
        return LinearRNNState(torch.zeros(batch, len(like), dtype=dtype or like.dtype, device=device or like.device))

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: LinearRNNState) -> tuple[Float[Tensor, "b d"], LinearRNNState]:
        h = state.h @ self.transition.t() + self.in_proj(x_t)
        return self.out_proj(h), LinearRNNState(h)

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: LinearRNNState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], LinearRNNState]:
        if state is None:
            state = self.init_state(x.shape[0])
        h, transition, history = state.h, self.transition.t(), []
        for drive_t in self.in_proj(x).unbind(1):
            h = torch.addmm(drive_t, h, transition)
            history.append(h)
        every = torch.stack(history, dim=1)
        return self.out_proj(every), LinearRNNState(at_last_token(every, state.h, lengths))


def at_last_token(
    every: Float[Tensor, "b t n"], before: Float[Tensor, "b n"], lengths: Int[Tensor, " b"] | None
) -> Float[Tensor, "b n"]:
    """The state after the last real token of each row, out of those after every token."""
    if lengths is None:
        return every[:, -1]
    index = lengths[:, None, None].expand(-1, 1, every.shape[2])
    return torch.cat([before[:, None], every], dim=1).gather(1, index)[:, 0]
