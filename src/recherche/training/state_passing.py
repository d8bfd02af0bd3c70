"""State passing: a recurrent model learns to begin a text in the states in which other texts have left it.

Trained from empty states on short texts, a recurrent model meets states that it has never seen as soon as a text is
longer. So row i of a batch begins in the state at the end of row i of the batch before, without a gradient; now and
then it begins empty. Every state that a long text can lead to is then one of training.

The states are buffers: a checkpoint holds them, and a resumed run goes on exactly.

Reference: Buitrago & Gu (2025), Understanding and Improving Length Generalization in Recurrent Models,
https://arxiv.org/abs/2507.02782
"""

from collections.abc import Iterator
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from recherche.errors import ConfigError
from recherche.mixers.state import named_tensors, rebuild
from recherche.models.language_model import LanguageModel, ModelState


@final
class StatePassing(nn.Module):
    """A language model in training that remembers where its rows ended.

    Attributes:
        model: the model itself.
    """

    def __init__(self, model: LanguageModel, *, batch_size: int, fresh_every: int) -> None:
        """Begin with empty states.

        Args:
            batch_size: rows of each batch.
            fresh_every: how many batches a row is read on before it begins anew; rows take turns.

        Raises:
            ConfigError: the state of a layer grows with the text.
        """
        super().__init__()
        growing = [layer.mixer for layer in model.config.layers if layer.state_grows]
        if growing:
            raise ConfigError(
                f"States are passed on between batches of models with a state of fixed size, but that of {growing[0]} "
                "grows with the text; train it without."
            )
        self.model = model
        self.fresh_every = fresh_every
        self.register_buffer("batches", torch.zeros((), dtype=torch.int64))
        for path, tensor in named_tensors(model.init_state(batch_size)):
            self.register_buffer(_buffer(path), tensor)

    @property
    def device(self) -> torch.device:
        """Where the weights lie, and tokens must."""
        return self.model.device

    def hidden_matrices(self) -> Iterator[tuple[nn.Parameter, tuple[int, ...]]]:
        """As of the model."""
        return self.model.hidden_matrices()

    def forward(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b t v"]:
        """Logits of the token after each position; all rows are of full length."""
        empty = self.model.init_state(len(tokens))
        before = rebuild(empty, {path: self.get_buffer(_buffer(path)) for path, _ in named_tensors(empty)})
        logits, after = self.model.read(tokens, before)
        self._keep(after, empty)
        return logits

    @torch.no_grad()
    def _keep(self, after: ModelState, empty: ModelState) -> None:
        """Let the next batch begin where this one has ended, and the rows whose turn it is at the beginning."""
        batches = self.get_buffer("batches").add_(1)
        for (path, end), (_, start) in zip(named_tensors(after), named_tensors(empty), strict=True):
            begins_anew = (torch.arange(len(end), device=end.device) + batches) % self.fresh_every == 0
            # Not in place: the gradient of this batch still needs the states it began in.
            setattr(self, _buffer(path), torch.where(begins_anew.view(-1, *[1] * (end.dim() - 1)), start, end))


def _buffer(path: str) -> str:
    """The name of the buffer of a tensor of the state, such as `state_0_ssm`."""
    return f"state_{path.replace('.', '_')}"
