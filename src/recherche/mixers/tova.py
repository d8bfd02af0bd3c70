"""TOVA (token omission via attention): a fixed number of slots; the token that is attended to least makes room.

    b batch   t tokens   h heads   k d_head   w slots

    p_j = softmax over the slots and the new token of q_t . k_j / sqrt(k)
    y_t = W_o [ sum_j p_j v_j ]
    then, if all slots are full, the j with the smallest mean of p_j over the heads is dropped, be it the new token

    state   keys (rotated to their positions), values and positions of w slots, and the number of tokens read

What is dropped depends on everything before, so it is chosen token by token (`recherche.kernels.token_omission`); what
is then attended to is attention under a mask, in chunks.

Reference: Oren et al. (2024), Transformers are Multi-State RNNs, Section 3.2, https://arxiv.org/abs/2401.06104
"""

from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor
from typing_extensions import override

from recherche.errors import ConfigError
from recherche.kernels.token_omission import kept_tokens
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default
from recherche.mixers.rotary import RotaryTable, rotate

_EMPTY = -1
_CHUNK = 32


@final
class TOVALayer(LayerConfig):
    """Attention to `n_slots` tokens of its own choice.

    Attributes:
        n_slots: tokens that are kept.
        rope_base: slowest rotation is about 1/rope_base radians a token.
    """

    mixer: Literal["tova"] = "tova"
    n_heads: int = Field(default=4, ge=1)
    n_slots: int = Field(default=16, ge=1)
    rope_base: float = Field(default=10_000.0, gt=1)

    @override
    def build(self, d_model: int, generator: torch.Generator | None = None) -> "TOVA":
        return TOVA(d_model, self, generator=generator)


class TOVAState(NamedTuple):
    """What lies in the slots, positions being -1 in empty ones, and how many tokens were read."""

    keys: Float[Tensor, "b h w k"]
    values: Float[Tensor, "b h w k"]
    positions: Int[Tensor, "b w"]
    num_read: Int[Tensor, "b 1"]


@final
class TOVA(AbstractMixer):
    """Softmax attention over slots that compete."""

    def __init__(self, d_model: int, config: TOVALayer, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        self.config = config
        self.d_head = head_size(d_model, config.n_heads, what="TOVA")
        if self.d_head % 2:
            raise ConfigError(f"TOVA rotates pairs and needs heads of even size, got {self.d_head}; change n_heads.")
        self.qkv_proj = Projection(d_model, (d_model, d_model, d_model), generator=generator)
        self.out_proj = Projection(d_model, (d_model,), generator=generator)
        self.rotary = RotaryTable(self.d_head, config.rope_base)

    @override
    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> TOVAState:
        weight, w = self.out_proj.weight, self.config.n_slots
        dtype, device = dtype or weight.dtype, device or weight.device
        empty = torch.zeros(batch, self.config.n_heads, w, self.d_head, dtype=dtype, device=device)
        positions = torch.full((batch, w), _EMPTY, dtype=torch.int32, device=device)
        return TOVAState(empty, empty, positions, torch.zeros(batch, 1, dtype=torch.int64, device=device))

    @override
    def step(self, x_t: Float[Tensor, "b d"], state: TOVAState) -> tuple[Float[Tensor, "b d"], TOVAState]:
        y, state = self.forward(x_t[:, None], state)
        return y[:, 0], state

    @override
    def forward(
        self, x: Float[Tensor, "b t d"], state: TOVAState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], TOVAState]:
        if state is None:
            state = self.init_state(x.shape[0])
        qkv = self.qkv_proj(x)
        q, k, v = (to_heads(part, self.config.n_heads) for part in qkv.chunk(3, dim=-1))
        table = self.rotary.upto(int(state.num_read.max()) + x.shape[1], x)
        q, k = rotate(q, table, state.num_read), rotate(k, table, state.num_read)
        is_padding = padding(x, lengths)[:, 0, :, 0]
        outputs = []
        for *piece, hidden in zip(
            *(part.split(_CHUNK, dim=2) for part in (q, k, v)), is_padding.split(_CHUNK, dim=1), strict=True
        ):
            y, state = self._read((piece[0], piece[1], piece[2]), hidden, state)
            outputs.append(y)
        return self.out_proj(from_heads(torch.cat(outputs, dim=2))), state

    def _read(
        self, piece: tuple[Tensor, Tensor, Tensor], is_padding: Bool[Tensor, "b c"], state: TOVAState
    ) -> tuple[Float[Tensor, "b h c k"], TOVAState]:
        """The outputs of one chunk, and the slots after it."""
        q, k, v = piece
        keys, values = torch.cat([state.keys, k], dim=2), torch.cat([state.values, v], dim=2)
        own = state.num_read.int() + torch.arange(q.shape[2], dtype=torch.int32, device=q.device)
        positions = torch.cat([state.positions, own], dim=1)
        scores = q @ keys.mT * self.d_head**-0.5
        seen, held = kept_tokens(scores.detach(), state.positions == _EMPTY, is_padding)
        weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
        index = held[:, None, :, None].expand(-1, keys.shape[1], -1, self.d_head)
        num_read = state.num_read + (~is_padding).sum(dim=1, keepdim=True)
        slots = (keys.gather(2, index), values.gather(2, index), positions.gather(1, held))
        return weights @ values, TOVAState(*slots, num_read)
