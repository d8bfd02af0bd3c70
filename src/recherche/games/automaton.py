"""A model whose state is rounded after every token: a finite automaton, of which bits can be counted.

    s_t = Q(step(s_{t-1}, x_t))        Q a quantiser of `quantisers`

Reference: Wen, Dang & Lyu (2024), Section 3 (RNNs with p-bit states), https://arxiv.org/abs/2402.18510
"""

import hashlib
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8, UInt64
from torch import Tensor

from recherche._rng import numpy_generator
from recherche.games.protocol import StatefulModel, write_message
from recherche.games.quantisers import AbstractQuantiser
from recherche.mixers.state import map_tensors, named_tensors


@final
@dataclass(frozen=True, slots=True)
class Automaton:
    """A model and a quantiser."""

    model: StatefulModel
    quantiser: AbstractQuantiser

    def state_bits(self, state: Any) -> int:
        """Bits of the message that holds the state of one row."""
        return write_message(self.model, state, self.quantiser).message_bits

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


def state_digest(state: Any) -> str:
    """SHA-256 of the state of one row."""
    return hashlib.sha256(_row_bytes(state).tobytes()).hexdigest()


def state_hashes(state: Any) -> UInt64[np.ndarray, " s"]:
    """64 bits of each row of a state: equal states have equal ones, others with probability 2^-64 a pair.

    Two multilinear hashes (random 64-bit multipliers of 32-bit words) of which the upper halves count: fast, since
    millions of rows are compared; what is found is looked at again with `state_digest`.

    Reference: Lemire & Kaser (2014), https://arxiv.org/abs/1202.4961
    """
    rows = _row_bytes(state)
    words = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4))).view(np.uint32).astype(np.uint64)
    multipliers = numpy_generator(0, "state-hashes").integers(2**64, size=(2, words.shape[1] + 1), dtype=np.uint64)
    high, low = (words @ row[1:] + row[0] >> np.uint64(32) for row in multipliers)
    return high << np.uint64(32) | low


def _row_bytes(state: Any) -> UInt8[np.ndarray, "s n"]:
    arrays = [tensor.cpu().contiguous().numpy() for _, tensor in named_tensors(state)]
    return np.concatenate([array.reshape(len(array), -1).view(np.uint8) for array in arrays], axis=1)
