"""How a model reads: a prompt into a cache, then what follows; or everything anew for each token.

One pass over a prompt of 200,000 tokens needs memory for the activations of all of them. Chunks need that of one chunk,
and where a family goes wrong in chunks, only the first of them (it starts from nothing) is read at once and the rest
token by token. A family whose single steps are wrong has no other way than reading the whole text for each token.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from jaxtyping import Int
from torch import Tensor

from recherche.games.hf_subjects import CACHE_NAMES

CHUNK = 2048
"""Tokens read at once."""

Tell = Callable[[int, int], None]
"""Hears how many tokens of the prompt have been read, and how many it has."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CachedReading:
    """Reads from a cache.

    Attributes:
        chunks: whether the family is right in chunks from a carried cache.
        already: tokens at the beginning that the cache has read before.
        tell: hears the progress of long prompts.
    """

    chunks: bool
    already: int = 0
    tell: Tell | None = None

    def read_prompt(self, model: Any, ids: Int[Tensor, "b t"], kwargs: dict[str, Any]) -> Any:
        """Outputs of the model after the last token; the cache in `kwargs` has then read all.

        The length of `kwargs`' mask and positions is that of `ids`, all of them, read before or not.
        """
        total, outputs, end = ids.shape[1], None, self.already
        while end < total:
            begin = end
            is_first = begin == 0
            end = min(total, begin + (CHUNK if self.chunks or is_first else 1))
            if outputs is not None:
                kwargs.update(cache_in(outputs))
            inputs = model.prepare_inputs_for_generation(
                ids[:, :end],
                next_sequence_length=None if is_first else end - begin,
                is_first_iteration=is_first,
                **{name: _until(value, end, total) for name, value in kwargs.items()},
            )
            outputs = model(**inputs, return_dict=True)
            if self.tell is not None:
                self.tell(end, total)
        return outputs

    def read_on(self, model: Any, ids: Int[Tensor, "b t"], kwargs: dict[str, Any], count: int) -> Any:
        """Outputs after the last `count` tokens, which the cache has not read yet."""
        inputs = model.prepare_inputs_for_generation(ids, next_sequence_length=count, **kwargs)
        return model(**inputs, return_dict=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WholeReading:
    """Reads everything anew, without a cache."""

    chunks: bool = True

    def read_prompt(self, model: Any, ids: Int[Tensor, "b t"], kwargs: dict[str, Any]) -> Any:
        """Outputs of the model after the last token."""
        kwargs["use_cache"] = False
        for name in CACHE_NAMES:
            kwargs.pop(name, None)
        inputs = model.prepare_inputs_for_generation(ids, is_first_iteration=True, **kwargs)
        return model(**inputs, return_dict=True)

    def read_on(self, model: Any, ids: Int[Tensor, "b t"], kwargs: dict[str, Any], count: int) -> Any:
        """The same: nothing is kept of what was read before."""
        return self.read_prompt(model, ids, kwargs)


def cache_in(held: Mapping[str, Any]) -> dict[str, Any]:
    """The cache among outputs or arguments, under the name that it has there; nothing if there is none."""
    return next(({name: held[name]} for name in CACHE_NAMES if held.get(name) is not None), {})


def _until(value: Any, end: int, total: int) -> Any:
    """What grows with the text, up to a token; anything else as it is."""
    grows = isinstance(value, Tensor) and value.dim() >= 2 and value.shape[-1] == total
    return value[..., :end] if grows else value
