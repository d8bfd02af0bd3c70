"""A model whose state is rounded after every token: a finite automaton, of which bits can be counted.

    s_t = Q(step(s_{t-1}, x_t))        Q a quantiser of `quantisers`

Reference: Wen, Dang & Lyu (2024), Section 3 (RNNs with p-bit states), https://arxiv.org/abs/2402.18510
"""

import hashlib
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from recherche.games.protocol import StatefulModel, write_message
from recherche.games.quantisers import AbstractQuantiser
from recherche.mixers.state import map_tensors, named_tensors


@final
@dataclass(frozen=True, slots=True)
class Automaton:
    """A model and a quantiser."""

    model: StatefulModel
    quantiser: AbstractQuantiser

    @property
    def state_bits(self) -> int:
        """Bits of the state before the first token; of every state, if the model is recurrent."""
        return write_message(self.model, self.start(1), self.quantiser).message_bits

    def start(self, rows: int) -> Any:
        """The rounded state before the first token."""
        return self._rounded(self.model.init_state(rows))

    @torch.inference_mode()
    def read(self, state: Any, tokens: Int[np.ndarray, "s t"]) -> tuple[Float[Tensor, "s v"], Any]:
        """Logits and state after one or more tokens."""
        for column in torch.from_numpy(np.ascontiguousarray(tokens.T)).to(self.model.device):
            logits, state = self.model.step(column, state)
            state = self._rounded(state)
        return logits, state

    def _rounded(self, state: Any) -> Any:
        def through(tensor: Tensor) -> Tensor:
            if not tensor.is_floating_point():
                return tensor
            parts = self.quantiser.pack(tensor.cpu())
            return self.quantiser.unpack(parts, tuple(tensor.shape)).to(tensor.device, tensor.dtype)

        return map_tensors(through, state)


def state_digests(state: Any) -> list[str]:
    """SHA-256 of each row of a state."""
    arrays = [tensor.cpu().contiguous().numpy() for _, tensor in named_tensors(state)]
    rows = np.concatenate([array.reshape(len(array), -1).view(np.uint8) for array in arrays], axis=1)
    return [hashlib.sha256(row.tobytes()).hexdigest() for row in rows]
