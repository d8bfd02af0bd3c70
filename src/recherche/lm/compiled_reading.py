"""Read the prompt of a Mamba of transformers by our compiled loops, where the library has only its slow one.

Without its CUDA kernels, the library walks along a prompt in Python and keeps the activations of all of it, and from a
carried cache it can only take single tokens. Ours is the same function of the same weights, held to it when it is made,
in chunks of any size; the state that it ends with is put into the library's cache, which then goes on token by token.
A prompt of 16,000 tokens took 13.4 s in the library and 1.1 s here (6 layers of width 128, one thread).

Reference: Gu & Dao (2023), Mamba, https://arxiv.org/abs/2312.00752
"""

import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from recherche.errors import ConfigError
from recherche.games.contract_checks import TOLERANCE, relative_error
from recherche.games.hf_inside import refill, tensors_in
from recherche.lm.reading import CHUNK, CachedReading, Tell, cache_in
from recherche.models.language_model import LanguageModel
from recherche.models.pretrained import from_transformers

FAMILY = "mamba"
SHORTEST = 256
"""Shorter prompts are not worth a copy of the weights."""


@final
@dataclass(frozen=True, slots=True)
class CompiledReading:
    """Reads a prompt by a copy of the model, and what follows by the model itself.

    Attributes:
        own: the copy.
        tell: hears the progress of long prompts.
    """

    own: LanguageModel
    tell: Tell | None = None
    chunks: bool = False

    @torch.no_grad()
    def read_prompt(self, model: Any, ids: Int[Tensor, "b t"], kwargs: dict[str, Any]) -> Any:
        """Outputs of the model: logits after the last token, and its own cache with the state there."""
        tokens, lengths = _from_the_left(ids, kwargs.get("attention_mask"))
        longest, state, logits = int(lengths.max()), None, None
        for begin in range(0, longest, CHUNK):
            end = min(longest, begin + CHUNK)
            left = (lengths - begin).clamp(min=0, max=end - begin)
            found, state = self.own.prefill(tokens[:, begin:end], state, lengths=left)
            logits = found if logits is None else found.where((left > 0)[:, None], logits)
            if self.tell is not None:
                self.tell(end, longest)
        assert logits is not None
        assert state is not None
        outputs = model(ids[:, :1], use_cache=True, **cache_in(kwargs))  # makes a cache of the right kind and size
        leaves = {}
        for path, tensor in tensors_in(outputs.cache):
            _, layer, kind, _ = path.split(".")
            leaves[path] = _padded(state[int(layer)].window, tensor) if kind == "conv_states" else state[int(layer)].ssm
        refill(outputs.cache, leaves)
        outputs.logits = logits[:, None]
        return outputs

    def read_on(self, model: Any, ids: Int[Tensor, "b t"], kwargs: dict[str, Any], count: int) -> Any:
        """As from any cache of the library."""
        return CachedReading(chunks=False).read_on(model, ids, kwargs, count)


def compiled_reading(model: Any, length: int, *, tell: Tell | None = None) -> CompiledReading | None:
    """How to read a prompt of so many tokens by compiled loops; None where the library reads it itself."""
    if length < SHORTEST or model.config.model_type != FAMILY:
        return None
    if model.device.type != "cpu" or model.dtype != torch.float32:
        return None
    own = _copy_of(model)
    return None if own is None else CompiledReading(own, tell)


class _Copy(NamedTuple):
    """A copy of weights, and which weights they were."""

    weights: tuple[tuple[int, int], ...]
    own: LanguageModel | None


_COPIES: "weakref.WeakKeyDictionary[Any, _Copy]" = weakref.WeakKeyDictionary()


def _copy_of(model: Any) -> LanguageModel | None:
    """A copy that gives what the model gives, made anew when its weights have changed; None if there is none."""
    weights = tuple((tensor.data_ptr(), tensor._version) for tensor in model.parameters())
    if model not in _COPIES or _COPIES[model].weights != weights:
        _COPIES[model] = _Copy(weights, _checked_copy(model))
    return _COPIES[model].own


@torch.no_grad()
def _checked_copy(model: Any) -> LanguageModel | None:
    try:
        own = from_transformers(model).eval()
    except ConfigError:
        return None
    tokens = torch.arange(24)[None] % model.config.vocab_size
    error = relative_error(own.prefill(tokens)[0], model(tokens, use_cache=False).logits[:, -1])
    return own if error <= TOLERANCE else None


def _from_the_left(
    ids: Int[Tensor, "b t"], mask: Int[Tensor, "b t"] | None
) -> tuple[Int[Tensor, "b t"], Int[Tensor, " b"]]:
    """Rows that begin with their first real token, and their lengths."""
    if mask is None:
        return ids, torch.full((len(ids),), ids.shape[1])
    real: Bool[Tensor, "b t"] = mask.bool()
    lengths = real.sum(dim=1)
    rolled = [row.roll(int(length) - len(row)) for row, length in zip(ids, lengths, strict=True)]
    return torch.stack(rolled), lengths


def _padded(window: Float[Tensor, "b e w"], like: Float[Tensor, "b e k"]) -> Float[Tensor, "b e k"]:
    """The last inputs of a convolution as the library keeps them: one more than are still needed, at the front."""
    return torch.nn.functional.pad(window, (like.shape[-1] - window.shape[-1], 0))
