"""A model made of the paper's blocks, with the paper's embedding, frozen and tied to its head.

    number token i      i w_1 + i^2 w_2                     coordinates 0 and 1 of the residual stream
    special token k     w_{3+k}, one-hot                    coordinates 2, 3, ...
    position t = 1, 2   t on the last coordinate

The paper embeds number i as i w_1 only. Then the tied head's logit of number i is linear in i, and its maximum lies at
one of the two ends whatever the model computes. With the square beside it, the output 2v w_1 - w_2 gives number i the
logit 2vi - i^2 = v^2 - (i - v)^2, which is largest at i = v, by at least 1. Numbers start at 1.

Reference: Wen, Dang & Lyu (2024), Appendix A.3, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, final

import torch
from jaxtyping import Float, Int
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from recherche.constructions.blocks import Attention, Block, LinearUnit, ReGLU
from recherche.vocab import Vocab

NUMBER, SQUARE, FIRST_SPECIAL = 0, 1, 2


class BlockShape(BaseModel):
    """The sizes of one block; `n_heads` and `d_head` are 0 for a linear unit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mixer: Literal["attention", "linear"]
    n_heads: int = 0
    d_head: int = 0
    width: int


class ModelShape(BaseModel):
    """All that is not a weight: the tokens and the sizes.

    Attributes:
        specials: special tokens; their ids come first.
        n_numbers: numbers 1 to `n_numbers` are tokens, after the specials.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    specials: tuple[str, ...]
    n_numbers: int
    d_model: int
    blocks: tuple[BlockShape, ...]

    @property
    def vocab(self) -> Vocab:
        """Special tokens, then numbers."""
        return _vocab(self.specials, self.n_numbers)


@lru_cache(maxsize=16)
def _vocab(specials: tuple[str, ...], n_numbers: int) -> Vocab:
    return Vocab(specials + tuple(str(i) for i in range(1, n_numbers + 1)))


class ModelState(NamedTuple):
    """Number of tokens read by each row, and the state of each block."""

    position: Int[Tensor, " b"]
    blocks: tuple


def _build_block(shape: BlockShape, d_model: int) -> Block:
    feed_forward = ReGLU(d_model, width=shape.width)
    if shape.mixer == "linear":
        return Block(LinearUnit(d_model), feed_forward)
    return Block(Attention(d_model, n_heads=shape.n_heads, d_head=shape.d_head), feed_forward)


@final
class PaperModel(nn.Module):
    """Embedding, blocks, tied head; all weights zero until they are set or loaded."""

    blocks: Sequence[Block]
    numbers: Tensor

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.shape = shape
        self.blocks = nn.ModuleList(_build_block(block, shape.d_model) for block in shape.blocks)  # type: ignore[assignment]
        self.register_buffer("numbers", torch.arange(1, shape.n_numbers + 1, dtype=torch.float64), persistent=False)

    @property
    def device(self) -> torch.device:
        """Where tokens must lie."""
        return self.numbers.device

    @property
    def vocab(self) -> Vocab:
        """The tokens that the model reads and writes."""
        return self.shape.vocab

    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> ModelState:
        """The state before the first token."""
        states = tuple(block.mixer.init_state(batch, dtype=dtype, device=device) for block in self.blocks)
        return ModelState(torch.zeros(batch, dtype=torch.int64, device=device or self.device), states)

    def step(self, token: Int[Tensor, " b"], state: ModelState) -> tuple[Float[Tensor, "b v"], ModelState]:
        """Logits after one more token, and the state after it."""
        position = state.position + 1
        x, states = self._embed(token, position), []
        for block, block_state in zip(self.blocks, state.blocks, strict=True):
            x, after = block.step(x, block_state)
            states.append(after)
        return self._logits(x), ModelState(position, tuple(states))

    def prefill(
        self, tokens: Int[Tensor, "b t"], state: ModelState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b v"], ModelState]:
        """Logits after the last real token of each row, and the state there."""
        if lengths is not None and bool((lengths < tokens.shape[1]).any()):
            x, state = self.residual_stream(tokens, state, lengths=lengths)
            return self._logits(x[torch.arange(len(x), device=x.device), lengths - 1]), state
        state = self.init_state(tokens.shape[0], dtype=self.numbers.dtype) if state is None else state
        x, below = self._through(tokens, state, skipped=1)
        last, top = self.blocks[-1].forward_last(x, state.blocks[-1])
        return self._logits(last), ModelState(state.position + tokens.shape[1], (*below, top))

    def forward(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b t v"]:
        """Logits after every token."""
        return self._logits(self.residual_stream(tokens)[0])

    def residual_stream(
        self, tokens: Int[Tensor, "b t"], state: ModelState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], ModelState]:
        """What the last block puts out at every token, and the state after the last real token of each row."""
        state = self.init_state(tokens.shape[0], dtype=self.numbers.dtype) if state is None else state
        x, states = self._through(tokens, state, skipped=0, lengths=lengths)
        read = tokens.shape[1] if lengths is None else lengths
        return x, ModelState(state.position + read, states)

    def _through(
        self, tokens: Int[Tensor, "b t"], state: ModelState, *, skipped: int, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], tuple]:
        """What all blocks but the last `skipped` put out at every token, and their states."""
        positions = state.position[:, None] + torch.arange(1, tokens.shape[1] + 1, device=tokens.device)
        x, states = self._embed(tokens, positions), []
        blocks, before = (parts[: len(parts) - skipped] for parts in (self.blocks, state.blocks))
        for block, block_state in zip(blocks, before, strict=True):
            x, after = block(x, block_state, lengths=lengths)
            states.append(after)
        return x, tuple(states)

    def _embed(self, tokens: Int[Tensor, "*b"], positions: Int[Tensor, "*b"]) -> Float[Tensor, "*b d"]:
        n_specials = len(self.shape.specials)
        x = self.numbers.new_zeros((*tokens.shape, self.shape.d_model))
        number = (tokens - (n_specials - 1)).clamp(min=0).to(x.dtype)
        x[..., NUMBER] = number
        x[..., SQUARE] = number * number
        coordinate = FIRST_SPECIAL + tokens.clamp(max=n_specials - 1)
        x.scatter_(-1, coordinate[..., None], (number == 0).to(x.dtype)[..., None])
        x[..., -1] = positions.to(x.dtype)
        return x

    def _logits(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        specials = x[..., FIRST_SPECIAL : FIRST_SPECIAL + len(self.shape.specials)]
        linear, square = x[..., NUMBER, None], x[..., SQUARE, None]
        return torch.cat([specials, self.numbers * (linear + self.numbers * square)], dim=-1)
