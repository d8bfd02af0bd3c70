"""TOVA (token omission via attention): a fixed number of slots; the token that is attended to least makes room.

    b batch   t tokens   h heads   k d_head   w slots

    p_j = softmax over the slots and the new token of q_t . k_j / sqrt(k)
    y_t = W_o [ sum_j p_j v_j ]
    then, if all slots are full, the j with the smallest mean of p_j over the heads is dropped, be it the new token

    state   keys (rotated to their positions), values and positions of w slots, and the number of tokens read

What is dropped depends on everything before, so tokens are read one after the other.

Reference: Oren et al. (2024), Transformers are Multi-State RNNs, Section 3.2, https://arxiv.org/abs/2401.06104
"""

from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor
from typing_extensions import override

from recherche.errors import ConfigError
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.parts import from_heads, head_size, padding, to_heads
from recherche.mixers.projection import Projection, generator_or_default
from recherche.mixers.rotary import RotaryTable, rotate

_EMPTY = -1


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
        for i in range(x.shape[1]):
            token = (q[:, :, i : i + 1], k[:, :, i : i + 1], v[:, :, i : i + 1])
            y_t, state = self._read(token, is_padding[:, i : i + 1], state)
            outputs.append(y_t)
        return self.out_proj(from_heads(torch.cat(outputs, dim=2))), state

    def _read(
        self, token: tuple[Tensor, Tensor, Tensor], is_padding: Bool[Tensor, "b 1"], state: TOVAState
    ) -> tuple[Float[Tensor, "b h 1 k"], TOVAState]:
        """The output of one token, and the slots after it."""
        q, k, v = token
        keys, values = torch.cat([state.keys, k], dim=2), torch.cat([state.values, v], dim=2)
        positions = torch.cat([state.positions, state.num_read.int()], dim=1)
        empty = positions == _EMPTY
        scores = (q @ keys.mT * self.d_head**-0.5).masked_fill(empty[:, None, None], -torch.inf)
        weights = scores.softmax(dim=-1)
        # Empty slots are taken first: nothing can be attended to less.
        attention = weights.detach().mean(dim=1)[:, 0].masked_fill(empty, -1.0)
        dropped = attention.argmin(dim=1, keepdim=True).masked_fill(is_padding, self.config.n_slots)
        # The new token takes the dropped place; if it is dropped itself, it takes its own, which is cut off.
        index = dropped[:, None, :, None].expand_as(k)
        kept = [full.scatter(2, index, new)[:, :, :-1] for full, new in ((keys, k), (values, v))]
        places = positions.scatter(1, dropped, state.num_read.int())[:, :-1]
        return weights @ values, TOVAState(kept[0], kept[1], places, state.num_read + ~is_padding)
