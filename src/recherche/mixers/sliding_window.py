"""Sliding-window attention with sinks (StreamingLLM): a token sees the first few tokens and the last few, no others.

    b batch   t tokens   h heads   k d_head   s sinks   w window

    token p sees token j <= p if j < s or j > p - w
    y_p = W_o [ sum over visible j of softmax_j(q_p . k_j / sqrt(k)) v_j ]

    state   keys, values and positions of s + w slots: token j lies in slot j if j < s, else in slot s + (j - s) mod w

Positions count inside the window, as in StreamingLLM: towards a sink, a token further than s + w - 1 from the start
acts as if it stood there, so no distance is larger than one seen in training. The text is read in chunks, each against
the slots and itself: time is linear in the text.

Reference: Xiao et al. (2023), Efficient Streaming Language Models with Attention Sinks, https://arxiv.org/abs/2309.17453
"""

from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor
from typing_extensions import override

from recherche.errors import ConfigError
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default
from recherche.mixers.rotary import RotaryTable, rotate

_EMPTY = -1
_CHUNK = 48


@final
class SlidingWindowLayer(LayerConfig):
    """Attention to the first `n_sinks` and the last `window` tokens.

    Attributes:
        window: tokens of the recent past that are seen, the present one included.
        n_sinks: tokens of the beginning that are always seen.
        rope_base: slowest rotation is about 1/rope_base radians a token.
    """

    mixer: Literal["sliding-window"] = "sliding-window"
    n_heads: int = Field(default=4, ge=1)
    window: int = Field(default=16, ge=1)
    n_sinks: int = Field(default=4, ge=0)
    rope_base: float = Field(default=10_000.0, gt=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "SlidingWindow":
        return SlidingWindow(d_model, self, generator=generator)


class SlidingWindowState(NamedTuple):
    """What lies in the slots: rotated keys, values, and positions (-1 in an empty slot)."""

    keys: Float[Tensor, "b h slots k"]
    values: Float[Tensor, "b h slots k"]
    positions: Int[Tensor, "b slots"]


@final
class SlidingWindow(AbstractMixer):
    """Softmax attention over a fixed number of slots."""

    def __init__(self, d_model: int, config: SlidingWindowLayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        self.config = config
        self.d_head = head_size(d_model, config.n_heads, what="Sliding-window attention")
        if self.d_head % 2:
            raise ConfigError(
                f"Sliding windows rotate pairs, which needs heads of even size, got {self.d_head}; change n_heads."
            )
        self.qkv_proj = Projection(d_model, (d_model, d_model, d_model), generator=generator)
        self.out_proj = Projection(d_model, (d_model,), generator=generator)
        self.rotary = RotaryTable(self.d_head, config.rope_base)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> SlidingWindowState:
        weight, slots = self.out_proj.weight, self.config.n_sinks + self.config.window
        dtype, device = dtype or weight.dtype, device or weight.device
        empty = torch.zeros(batch, self.config.n_heads, slots, self.d_head, dtype=dtype, device=device)
        return SlidingWindowState(empty, empty, torch.full((batch, slots), _EMPTY, dtype=torch.int32, device=device))

    @override
    def step(
        self, x_t: Float[Tensor, "b d"], state: SlidingWindowState
    ) -> tuple[Float[Tensor, "b d"], SlidingWindowState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self,
        x: Float[Tensor, "b t d"],
        state: SlidingWindowState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], SlidingWindowState]:
        if state is None:
            state = self.init_state(x.shape[0])
        qkv = self.qkv_proj(x)
        is_padding = padding(x, lengths)[:, 0, :, 0]
        outputs = []
        chunk = max(_CHUNK, self.config.window)
        for piece, hidden in zip(qkv.split(chunk, dim=1), is_padding.split(chunk, dim=1), strict=True):
            y, state = self._read(piece, hidden, state)
            outputs.append(y)
        return self.out_proj(torch.cat(outputs, dim=1)), state

    def _read(
        self, qkv: Float[Tensor, "b c e"], is_padding: Tensor, state: SlidingWindowState
    ) -> tuple[Float[Tensor, "b c d"], SlidingWindowState]:
        """One chunk."""
        n_sinks, window = self.config.n_sinks, self.config.window
        q, k, v = (to_heads(part, self.config.n_heads) for part in qkv.chunk(3, dim=-1))
        start = state.positions.amax(dim=1, keepdim=True).long() + 1
        own = start + torch.arange(qkv.shape[1], device=qkv.device)
        table = self.rotary.upto(int(own.max()) + 1, qkv)
        k = rotate(k, table, start)
        towards_sinks = rotate_each(q, table, own.clamp(max=n_sinks + window - 1))
        towards_window = rotate(q, table, start)

        keys, values = torch.cat([state.keys, k], dim=2), torch.cat([state.values, v], dim=2)
        positions = torch.cat([state.positions, own.masked_fill(is_padding, _EMPTY).int()], dim=1)
        at, of = own[:, :, None], positions[:, None]
        visible = (of >= 0) & (of <= at) & ((of < n_sinks) | (of > at - window))
        # Padding attends to itself, lest its softmax be over nothing.
        visible[:, :, state.positions.shape[1] :] |= torch.eye(qkv.shape[1], dtype=torch.bool, device=qkv.device)
        is_sink = ((of >= 0) & (of < n_sinks))[:, None]
        scores = torch.where(is_sink, towards_sinks @ keys.mT, towards_window @ keys.mT) * self.d_head**-0.5
        weights = scores.masked_fill(~visible[:, None], -torch.inf).softmax(dim=-1)
        return from_heads(weights @ values), self._write((k, v), own, is_padding, state)

    def _write(
        self,
        columns: tuple[Float[Tensor, "b h c k"], Float[Tensor, "b h c k"]],
        own: Int[Tensor, "b c"],
        is_padding: Tensor,
        state: SlidingWindowState,
    ) -> SlidingWindowState:
        """The slots after a chunk; padding and what falls out of the window go to a slot that is then thrown away."""
        n_sinks, slots, window = self.config.n_sinks, state.positions.shape[1], self.config.window
        slot = torch.where(own < n_sinks, own, n_sinks + (own - n_sinks) % window)
        after = own[:, :1] + (~is_padding).sum(dim=1, keepdim=True)
        slot = slot.masked_fill(is_padding | ((own >= n_sinks) & (own < after - window)), slots)
        index = slot[:, None, :, None].expand_as(columns[0])
        keys, values = (
            torch.cat([old, torch.zeros_like(old[:, :, :1])], dim=2).scatter(2, index, new)[:, :, :slots]
            for old, new in zip(state[:2], columns, strict=True)
        )
        spare = torch.cat([state.positions, state.positions[:, :1]], dim=1)
        return SlidingWindowState(keys, values, spare.scatter(1, slot, own.int())[:, :slots])


def rotate_each(
    x: Float[Tensor, "b h t k"], table: Float[Tensor, "2 positions half"], positions: Int[Tensor, "b t"]
) -> Float[Tensor, "b h t k"]:
    """`x` with every token turned to a position of its own."""
    b, h, t, k = x.shape
    tokens = x.transpose(1, 2).reshape(b * t, h, 1, k)
    return rotate(tokens, table, positions.reshape(b * t, 1)).view(b, t, h, k).transpose(1, 2)
