"""The paper's layers as plain modules: attention, the linear unit, the gated feed-forward, and a block of two of them.

    Transformer block   f(X) = X + A(X) + g(X + A(X))                                          (Definition 3.1)
    attention           A(X) = sum over heads of  W_V X softmax((W_K X)^T W_Q X / sqrt(d) + causal mask)
    feed-forward        g(x) = W_3 (ReLU(W_1 x + b_1) * (W_2 x + b_2)) + b_3                   (ReGLU, column by column)
    linear RNN block    f(X) = X + LU(X) + g(X + LU(X)),   LU(X)_t = h_t = A h_{t-1} + B x_t   (Definition 3.4)
    hybrid              linear RNN blocks, then one Transformer block                          (Definition 5.5)

The modules know nothing of where their weights come from: they train, save and load like any other. Two freedoms are
taken, neither of which changes what can be computed. A head's d x d matrices may have zero rows, and those are not
stored: W_Q and W_K have `d_head` rows, and W_V is stored as the product W_O W_V of thin matrices; the scale is still
1 / sqrt(d). And two objects can be exchanged: how scores become weights (`softmax`, or `hardmax`, the limit that the
proofs speak of), and how each elementary operation is rounded (`exact`, or R_p, see `recherche.precision`).

Reference: Wen, Dang & Lyu (2024), Section 3, https://arxiv.org/abs/2402.18510
"""

import math
from collections.abc import Callable
from typing import NamedTuple, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from recherche.mixers.base import AbstractMixer, State
from recherche.mixers.kv_cache import KVState

Normalizer = Callable[[Float[Tensor, "*rows t"]], Float[Tensor, "*rows t"]]
"""From scores (minus infinity where masked) to weights that are non-negative and sum to 1 along the last axis."""

Rounding = Callable[[Float[Tensor, "*shape"]], Float[Tensor, "*shape"]]
"""What happens to the result of each elementary operation."""

_CHUNK_ELEMENTS = 1 << 17
"""Scores that are held at once while a prompt is read: what stays in a core's cache."""


def softmax(scores: Float[Tensor, "*rows t"]) -> Float[Tensor, "*rows t"]:
    """The exponentials of the scores, normalised."""
    return torch.softmax(scores, dim=-1)


def hardmax(scores: Float[Tensor, "*rows t"]) -> Float[Tensor, "*rows t"]:
    """Equal weights on the largest score, none elsewhere: the limit of softmax at temperature 0."""
    best = (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)
    return best / best.sum(dim=-1, keepdim=True)


def exact(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """No rounding beyond that of the dtype."""
    return x


@final
class Attention(AbstractMixer):
    """The sum over heads of causal attention, with scale 1 / sqrt(d_model) as printed; no heads: zero."""

    def __init__(self, d_model: int, *, n_heads: int, d_head: int) -> None:
        super().__init__()
        self.normalize: Normalizer = softmax
        self.rounding: Rounding = exact
        self.scale = 1.0 / math.sqrt(d_model)
        shape = (n_heads, d_head, d_model)
        self.W_Q = nn.Parameter(torch.zeros(shape, dtype=torch.float64))
        self.W_K = nn.Parameter(torch.zeros(shape, dtype=torch.float64))
        self.W_V = nn.Parameter(torch.zeros(shape, dtype=torch.float64))
        self.W_O = nn.Parameter(torch.zeros(n_heads, d_model, d_head, dtype=torch.float64))

    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> KVState:
        """No keys and no values."""
        n_heads, d_head, _ = self.W_K.shape
        empty = self.W_K.new_zeros((batch, n_heads, 0, d_head), dtype=dtype, device=device)
        return KVState(empty, empty)

    def step(self, x_t: Float[Tensor, "b d"], state: KVState) -> tuple[Float[Tensor, "b d"], KVState]:
        """Attention of one token to all before it and to itself."""
        y, state = self(x_t[:, None], state)
        return y[:, 0], state

    def read(self, x: Float[Tensor, "b t d"], state: KVState, *, lengths: Int[Tensor, " b"] | None = None) -> KVState:
        """The state after these tokens, which takes no scores: time O(t)."""
        if self.W_K.shape[0] == 0:
            return state
        return state.append(self._project(self.W_K, x), self._project(self.W_V, x), lengths=lengths)

    def forward(
        self, x: Float[Tensor, "b t d"], state: KVState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], KVState]:
        """Attention of all tokens, a slice of queries at a time so that memory stays bounded."""
        state = self.init_state(x.shape[0], dtype=x.dtype, device=x.device) if state is None else state
        n_heads = self.W_Q.shape[0]
        if n_heads == 0:
            return torch.zeros_like(x), state
        state = self.read(x, state, lengths=lengths)
        queries, t = self._project(self.W_Q, x), x.shape[1]
        before = state.columns - t
        chunk = max(1, _CHUNK_ELEMENTS // (x.shape[0] * n_heads * state.columns))
        mixed = [
            self._attend(queries[:, :, start : start + chunk], _first_columns(state, before + min(start + chunk, t)))
            for start in range(0, t, chunk)
        ]
        heads = torch.cat(mixed, dim=2) if len(mixed) > 1 else mixed[0]
        W_O = self.W_O.transpose(0, 1).flatten(1)
        return self.rounding(heads.transpose(1, 2).flatten(2) @ W_O.T), state

    def _project(self, W: Float[Tensor, "h k d"], x: Float[Tensor, "b t d"]) -> Float[Tensor, "b h t k"]:
        projected = x @ W.flatten(0, 1).T
        return self.rounding(projected.unflatten(2, W.shape[:2]).transpose(1, 2))

    def _attend(self, queries: Float[Tensor, "b h c k"], state: KVState) -> Float[Tensor, "b h c k"]:
        """What the last c tokens of a state attend to."""
        scores = self.rounding(queries @ state.keys.transpose(2, 3) * self.scale)
        visible = state.visible(queries.shape[2])
        if visible is not None:
            scores = scores.masked_fill(~visible, -torch.inf)
        return self.rounding(self.rounding(self.normalize(scores)) @ state.values)


def _first_columns(state: KVState, stop: int) -> KVState:
    """The state before the columns from `stop` on were read; no token before them attends to them."""
    if stop == state.columns:
        return state
    positions = None if state.positions is None else state.positions[:, :stop]
    return KVState(state.keys[:, :, :stop], state.values[:, :, :stop], positions)


class HiddenState(NamedTuple):
    """The state h of a linear unit."""

    hidden: Float[Tensor, "b d"]


@final
class LinearUnit(AbstractMixer):
    """h_t = A h_{t-1} + B x_t, all of h_t put out; A does not depend on the input."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.rounding: Rounding = exact
        self.A = nn.Parameter(torch.zeros(d_model, d_model, dtype=torch.float64))
        self.B = nn.Parameter(torch.zeros(d_model, d_model, dtype=torch.float64))

    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> HiddenState:
        """h_0 = 0."""
        return HiddenState(self.A.new_zeros((batch, self.A.shape[0]), dtype=dtype, device=device))

    def step(self, x_t: Float[Tensor, "b d"], state: HiddenState) -> tuple[Float[Tensor, "b d"], HiddenState]:
        """One update of the state, which is also the output."""
        hidden = self.rounding(state.hidden @ self.A.T + x_t @ self.B.T)
        return hidden, HiddenState(hidden)

    def forward(
        self, x: Float[Tensor, "b t d"], state: HiddenState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], HiddenState]:
        """All updates in order."""
        start = self.init_state(x.shape[0], dtype=x.dtype, device=x.device) if state is None else state
        hidden, A, inputs, outputs = start.hidden, self.A.T, x @ self.B.T, []
        for i in range(x.shape[1]):
            hidden = self.rounding(hidden @ A + inputs[:, i])
            outputs.append(hidden)
        y = torch.stack(outputs, dim=1) if outputs else torch.zeros_like(x)
        if lengths is None:
            return y, HiddenState(hidden)
        last = y[torch.arange(len(y), device=y.device), (lengths - 1).clamp(min=0)]
        return y, HiddenState(torch.where((lengths > 0)[:, None], last, start.hidden))


@final
class ReGLU(nn.Module):
    """g(x) = W_3 (ReLU(W_1 x + b_1) * (W_2 x + b_2)) + b_3."""

    def __init__(self, d_model: int, *, width: int) -> None:
        super().__init__()
        self.rounding: Rounding = exact
        self.W_1 = nn.Parameter(torch.zeros(width, d_model, dtype=torch.float64))
        self.b_1 = nn.Parameter(torch.zeros(width, dtype=torch.float64))
        self.W_2 = nn.Parameter(torch.zeros(width, d_model, dtype=torch.float64))
        self.b_2 = nn.Parameter(torch.zeros(width, dtype=torch.float64))
        self.W_3 = nn.Parameter(torch.zeros(d_model, width, dtype=torch.float64))
        self.b_3 = nn.Parameter(torch.zeros(d_model, dtype=torch.float64))

    def forward(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """The same map for every token."""
        gates = self.rounding(torch.nn.functional.linear(x, self.W_1, self.b_1)).relu()
        values = self.rounding(torch.nn.functional.linear(x, self.W_2, self.b_2))
        return self.rounding(torch.nn.functional.linear(self.rounding(gates * values), self.W_3, self.b_3))


@final
class Block(nn.Module):
    """f(X) = X + M(X) + g(X + M(X)) with M an attention or a linear unit."""

    def __init__(self, mixer: Attention | LinearUnit, feed_forward: ReGLU) -> None:
        super().__init__()
        self.mixer = mixer
        self.feed_forward = feed_forward

    def step(self, x_t: Float[Tensor, "b d"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        """The block's output for one token, and its mixer's state."""
        mixed, state = self.mixer.step(x_t, state)
        x_t = x_t + mixed
        return x_t + self.feed_forward(x_t), state

    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: State | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], State]:
        """The block's outputs for all tokens, and its mixer's state."""
        mixed, state = self.mixer(x, state, lengths=lengths)
        x = x + mixed
        return x + self.feed_forward(x), state

    def forward_last(self, x: Float[Tensor, "b t d"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        """The block's output for the last token alone, for which attention needs one row of scores."""
        if isinstance(self.mixer, Attention):
            return self.step(x[:, -1], self.mixer.read(x[:, :-1], state))
        y, state = self(x, state)
        return y[:, -1], state
