"""The state of attention: the keys and values of all tokens so far, in buffers that grow by doubling.

Columns are shared by the batch. While all rows have read equally many tokens, a column's index is its position. Once
rows of different lengths were read (right-padded), `positions` says which token of its row a column holds, -1 for
padding.

A state is a value although its buffer is shared: appending writes only into columns that no state has claimed, and the
buffer remembers how many are. A state that is behind (an older fork) copies before it writes. So a chain of n
appends costs O(n) in all, and a fork costs one copy when both sides go on.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

_SMALLEST_CAPACITY = 16
_PADDING = -1


class _Room:
    """Buffers with spare columns, and how many of their columns some state has claimed."""

    def __init__(self, keys: Tensor, values: Tensor, claimed: int) -> None:
        self.keys = keys
        self.values = values
        self.claimed = claimed


class KVState(NamedTuple):
    """Keys and values of all tokens so far.

    Attributes:
        keys: rotated keys, one column a token.
        values: values, one column a token.
        positions: position of each column in its row, -1 for padding; None while all rows are equally long.
        room: where the next columns can be written; no information.
    """

    keys: Float[Tensor, "b h t k"]
    values: Float[Tensor, "b h t k"]
    positions: Int[Tensor, "b t"] | None = None
    room: _Room | None = None

    @property
    def columns(self) -> int:
        """Number of columns in use."""
        return self.keys.shape[2]

    def next_positions(self) -> int | Int[Tensor, "b 1"]:
        """Position of the next token: one number, or one for each row."""
        if self.positions is None:
            return self.columns
        if not self.columns:
            return self.positions.new_zeros(self.positions.shape[0], 1)
        return self.positions.amax(dim=1, keepdim=True) + 1

    def visible(self, t: int) -> Bool[Tensor, "#b 1 t s"] | None:
        """Which columns each of the last `t` tokens may attend to; None: all of them."""
        s = self.columns
        if t == 1 and self.positions is None:
            return None
        causal = torch.ones(t, s, dtype=torch.bool, device=self.keys.device).tril(s - t)
        if self.positions is None:
            return causal[None, None]
        # Padding attends to itself, lest its softmax be over nothing.
        real = (self.positions != _PADDING)[:, None, None, :]
        own = torch.ones(t, s, dtype=torch.bool, device=self.keys.device).triu(s - t) & causal
        return (causal & real) | own

    def append(
        self,
        keys: Float[Tensor, "b h t k"],
        values: Float[Tensor, "b h t k"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> "KVState":
        """The state with `t` more columns, of which row i uses the first `lengths[i]` (None: all)."""
        positions = self._more_positions(keys.shape[2], lengths)
        if torch.is_grad_enabled() and (keys.requires_grad or self.keys.requires_grad):
            # Autograd must not see a tensor change that it has saved: pay the copy.
            return KVState(torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2), positions)
        start, stop = self.columns, self.columns + keys.shape[2]
        if start == 0 and keys.shape[2] > 1:
            return KVState(keys, values, positions)
        room = self.room
        if room is None or room.claimed != start or room.keys.shape[2] < stop:
            room = self._copy(max(2 * start, stop, _SMALLEST_CAPACITY))
        room.keys[:, :, start:stop] = keys
        room.values[:, :, start:stop] = values
        room.claimed = stop
        return KVState(room.keys[:, :, :stop], room.values[:, :, :stop], positions, room)

    def _copy(self, capacity: int) -> _Room:
        b, h, columns, k = self.keys.shape
        keys = self.keys.new_empty(b, h, capacity, k)
        values = self.values.new_empty(b, h, capacity, k)
        keys[:, :, :columns] = self.keys
        values[:, :, :columns] = self.values
        return _Room(keys, values, columns)

    def _more_positions(self, t: int, lengths: Int[Tensor, " b"] | None) -> Int[Tensor, "b s"] | None:
        if self.positions is None and (lengths is None or bool((lengths == t).all())):
            return None
        b, device = self.keys.shape[0], self.keys.device
        old = self.positions
        if old is None:
            old = torch.arange(self.columns, dtype=torch.int32, device=device).expand(b, -1)
        fresh = self.next_positions() + torch.arange(t, dtype=torch.int32, device=device)
        fresh = fresh.expand(b, t)
        if lengths is not None:
            padding = torch.arange(t, device=device) >= lengths[:, None]
            fresh = fresh.masked_fill(padding, _PADDING)
        return torch.cat([old, fresh], dim=1).to(torch.int32)
