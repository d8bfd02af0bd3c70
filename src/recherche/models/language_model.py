"""The language model: embedding, a stack of layers, a last norm, a head.

    logits = head(norm(layer_L(... layer_1(embedding(tokens)))))

`forward` scores all tokens at once, for training. Generation goes from state to state: `prefill` reads a prompt and
gives the logits after its last token, `step` reads one more token. The state is the tuple of the layers' states; it is
a value, so a state that was kept is a fork to go back to.
"""

import math
from collections.abc import Iterator
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, linear

from recherche.errors import StateError
from recherche.mixers.base import State
from recherche.mixers.projection import Projection, generator_or_default, uniform
from recherche.mixers.state import StateShapes, tensors_of
from recherche.models.blocks import Block, RMSNorm
from recherche.models.config import LanguageModelConfig
from recherche.models.embeddings import LearnedEmbedding, LearnedHead

ModelState = tuple[State, ...]


@final
class LanguageModel(nn.Module):
    """A causal language model with an explicit state.

    Attributes:
        config: what it was built from.
    """

    def __init__(self, config: LanguageModelConfig, generator: torch.Generator | None = None) -> None:
        """Draw fresh weights from `generator` (None: one with seed 0).

        Raises:
            ConfigError: a layer's sizes do not fit `d_model`.
        """
        super().__init__()
        generator = generator_or_default(generator)
        d, v = config.d_model, config.vocab_size
        self.config = config
        table = config.embedding.table(v, d, generator)
        if isinstance(config.embedding, LearnedEmbedding):
            self.embedding = nn.Parameter(table)
        else:
            self.register_buffer("embedding", table)
        self.layers = nn.ModuleList(
            Block(d, layer, eps=config.norm_eps, generator=generator) for layer in config.layers
        )
        self.norm = RMSNorm(d, eps=config.norm_eps)
        self.head = (
            uniform(v, d, bound=1 / math.sqrt(d), generator=generator) if isinstance(config.head, LearnedHead) else None
        )
        self._scale_residual_branches()
        self._state_shapes = tuple(
            StateShapes(layer.mixer.init_state(1), free_axes=int(layer_config.state_grows))
            for layer, layer_config in zip(self._blocks(), config.layers, strict=True)
        )

    @property
    def device(self) -> torch.device:
        """Where the weights lie, and tokens must."""
        return self.embedding.device

    @property
    def num_parameters(self) -> int:
        """Number of trainable weights; a frozen embedding is none."""
        return sum(weight.numel() for weight in self.parameters() if weight.requires_grad)

    def hidden_matrices(self) -> Iterator[tuple[nn.Parameter, tuple[int, ...]]]:
        """Every matrix of the hidden stream, with the row blocks (q, k, v; gate, up; ...) that are stacked in it."""
        for module in self.modules():
            if isinstance(module, Projection):
                yield module.weight, module.blocks

    def forward(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b t v"]:
        """Logits of the token after each position; right padding disturbs no real token."""
        x = embedding(tokens, self.embedding)
        for layer in self.layers:
            x, _ = layer(x)
        return self._logits(x)

    def read(self, tokens: Int[Tensor, "b t"], state: ModelState) -> tuple[Float[Tensor, "b t v"], ModelState]:
        """`forward` from a state on, and the state after the last token: gradients flow through both.

        Raises:
            StateError: the state is that of another model or of another batch.
        """
        x = embedding(tokens, self.embedding)
        after = []
        for layer, before in zip(self.layers, self._checked(tokens, state), strict=True):
            x, part = layer(x, before)
            after.append(part)
        return self._logits(x), tuple(after)

    def init_state(
        self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
    ) -> ModelState:
        """The state before the first token, in the weights' dtype and device unless told otherwise."""
        return tuple(layer.mixer.init_state(batch, dtype=dtype, device=device) for layer in self._blocks())

    def prefill(
        self, tokens: Int[Tensor, "b t"], state: ModelState | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b v"], ModelState]:
        """Read many tokens: logits after the last real one of each row, and the state there.

        Args:
            state: where to go on from; None: the beginning.
            lengths: number of real tokens of each row, right-padded; None: all. A row of length 0 keeps its state and
                its logits mean nothing.

        Raises:
            StateError: the state is that of another model or of another batch.
        """
        state = self._checked(tokens, state)
        x = embedding(tokens, self.embedding)
        after = []
        for layer, before in zip(self.layers, state, strict=True):
            x, part = layer(x, before, lengths=lengths)
            after.append(part)
        rows = torch.arange(x.shape[0], device=x.device)
        last = x[:, -1] if lengths is None else x[rows, (lengths - 1).clamp(min=0)]
        return self._logits(last), tuple(after)

    def step(self, token: Int[Tensor, " b"], state: ModelState) -> tuple[Float[Tensor, "b v"], ModelState]:
        """Read one token of each row: logits after it, and the state there.

        Raises:
            StateError: the state is that of another model or of another batch.
        """
        x_t = embedding(token, self.embedding)
        after = []
        for layer, before in zip(self._blocks(), self._checked(token, state), strict=True):
            x_t, part = layer.step(x_t, before)
            after.append(part)
        return self._logits(x_t), tuple(after)

    def _blocks(self) -> Iterator[Block]:
        for layer in self.layers:
            assert isinstance(layer, Block)
            yield layer

    def _logits(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch v"]:
        return linear(self.norm(x), self.embedding if self.head is None else self.head)

    def _checked(self, tokens: Int[Tensor, "b ..."], state: ModelState | None) -> ModelState:
        if state is None:
            return self.init_state(tokens.shape[0])
        if len(state) != len(self.layers):
            raise StateError(
                f"A state of this model has {len(self.layers)} parts, one for each layer, got {len(state)}; "
                "use a state that init_state, prefill or step of the same model returned."
            )
        for number, (part, shapes) in enumerate(zip(state, self._state_shapes, strict=True)):
            if not shapes.fit(part):
                raise StateError(
                    f"Layer {number} has a state of {shapes}, got {StateShapes(part)}; "
                    "use a state that init_state, prefill or step of the same model returned."
                )
        rows = next(tensors_of(state)).shape[0]
        if rows != tokens.shape[0]:
            raise StateError(
                f"The state holds {rows} rows, got tokens of {tokens.shape[0]}; "
                "take rows with select_rows, or start from init_state."
            )
        return state

    @torch.no_grad()
    def _scale_residual_branches(self) -> None:
        """Divide what n branches add to the residual stream by sqrt(n), so that its variance does not grow with depth.

        Reference: Radford et al. (2019), GPT-2, Section 2.3; Mamba's code does the same.
        """
        outputs = [weight for name, weight in self.named_parameters() if name.endswith("out_proj.weight")]
        for weight in outputs:
            weight.div_(math.sqrt(len(outputs)))
