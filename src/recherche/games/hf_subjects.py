"""Models of the transformers library before the contract, through their own forward, cache and generate.

A cache there is an object that is changed in place, so a fork is a deep copy; its tensors are found by walking the
object. The argument that takes it has had several names, and each model knows one. A model that returns no cache is
given one of the library's own, as `generate` gives it. Positions and masks are given as `generate` gives them.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import save_file
from torch import Tensor

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.games.bug_reports import bug_report
from recherche.games.contract import AbstractSubject, Extension, Reading, Refusal
from recherche.games.hf_inside import layer_outputs, tensors_in
from recherche.games.subjects import in_new_process
from recherche.games.tiny_families import AUTO_CLASSES, SHARED, TINY_FAMILIES

CACHE_NAMES = ("cache", "past_key_values", "cache_params", "state")


class Carried(NamedTuple):
    """A cache of the library, and how many tokens it has read."""

    cache: Any
    length: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HFSubject(AbstractSubject):
    """A causal language model of transformers.

    Attributes:
        model: the model, in evaluation mode.
        label: what the report calls it.
        recipe: Python statements after which `model` is this model, for a new process and for scripts.
    """

    model: Any
    label: str
    recipe: str

    @property
    def name(self) -> str:
        """The label."""
        return self.label

    @property
    def vocab_size(self) -> int:
        """Number of tokens."""
        return int(self.model.config.get_text_config().vocab_size)

    @property
    def cache_name(self) -> str:
        """The argument that takes the cache.

        Raises:
            ConfigError: the model takes none.
        """
        accepted = inspect.signature(self.model.forward).parameters
        for name in CACHE_NAMES:
            if name in accepted:
                return name
        raise ConfigError(f"{self.label} takes no cache: its forward has none of {', '.join(CACHE_NAMES)}.")

    @property
    def takes_positions(self) -> bool:
        """Whether positions can be given."""
        return "position_ids" in inspect.signature(self.model.forward).parameters

    @property
    def unpromised(self) -> Mapping[str, str]:
        """The library asks for padding on the left wherever a text goes on."""
        return MappingProxyType({"on after right padding": "transformers asks for padding on the left"})

    def full(self, tokens: Int[Tensor, "b t"]) -> list[Reading]:
        """One forward pass without a cache."""
        tokens = tokens.to(self.model.device)
        with layer_outputs(self.model) as layers:
            logits = self.model(tokens, use_cache=False, **self._positions(tokens, 0)).logits
        return _readings(logits, layers)

    def extend(self, tokens: Int[Tensor, "b t"], cache: Any) -> Extension:
        """One forward pass from the cache, at the positions that follow it."""
        return self._extend(tokens, cache, self._positions(tokens, cache.length if cache is not None else 0))

    def _positions(self, tokens: Int[Tensor, "b t"], start: int) -> dict[str, Tensor]:
        """The positions from `start` on, if the model takes any."""
        positions = torch.arange(start, start + tokens.shape[1], device=self.model.device).expand(tokens.shape)
        return {"position_ids": positions} if self.takes_positions else {}

    def extend_by_default(self, tokens: Int[Tensor, "b t"], cache: Any) -> Extension:
        """One forward pass from the cache, and nothing else given.

        Raises:
            Refusal: the model has no positions that could be given.
        """
        if not self.takes_positions:
            raise Refusal("the model takes no positions")
        return self._extend(tokens, cache, {})

    def _extend(self, tokens: Int[Tensor, "b t"], carried: Any, given: dict[str, Tensor]) -> Extension:
        cache, length = carried if carried is not None else (self._own_cache(), 0)
        tokens = tokens.to(self.model.device)
        with layer_outputs(self.model) as layers:
            out = self.model(tokens, use_cache=True, **given, **({} if cache is None else {self.cache_name: cache}))
        cache = out.get(self.cache_name, cache)
        after = None if cache is None else Carried(cache, length + tokens.shape[1])
        return Extension(_readings(out.logits, layers)[-tokens.shape[1] :], after)

    def _own_cache(self) -> Any:
        """None for a model that makes a cache by itself; the library's own cache for one that returns none."""
        probe = torch.tensor([[self.vocab_size - 1]], device=self.model.device)
        if self.model(probe, use_cache=True).get(self.cache_name) is not None:
            return None
        from transformers import DynamicCache

        return DynamicCache(config=self.model.config)

    def padded(
        self, tokens: Int[Tensor, "b t"], real: Bool[Tensor, "b t"], then: Int[Tensor, "b n"]
    ) -> Float[Tensor, "b m v"]:
        """A forward pass with a mask, and one for each token that comes then, prepared as `generate` prepares them.

        Raises:
            Refusal: the model takes no mask.
        """
        if "attention_mask" not in inspect.signature(self.model.forward).parameters:
            raise Refusal("the model takes no attention_mask")
        tokens, then, real = (part.to(self.model.device) for part in (tokens, then, real))
        mask, texts, cache = real.long(), tokens, self._own_cache()
        out = self.model(tokens, use_cache=True, **self._prepared(mask, cache), attention_mask=mask)
        last = mask.shape[1] - 1 - mask.flip(1).argmax(dim=1)
        logits = [out.logits[torch.arange(len(tokens)), last]]
        for token in then.T[:, :, None]:
            cache, texts = out.get(self.cache_name, cache), torch.cat([texts, token], dim=1)
            mask = torch.cat([mask, torch.ones_like(token)], dim=1)
            inputs = self.model.prepare_inputs_for_generation(
                texts, next_sequence_length=1, attention_mask=mask, use_cache=True, **self._prepared(mask, cache)
            )
            out = self.model(**inputs)
            logits.append(out.logits[:, -1])
        return torch.stack(logits, dim=1)

    def _prepared(self, mask: Int[Tensor, "b t"], cache: Any) -> dict[str, Any]:
        """The cache, and positions that count real tokens, as far as the model takes them."""
        positions = {"position_ids": (mask.cumsum(dim=1) - 1).clamp(min=0)} if self.takes_positions else {}
        return positions | ({} if cache is None else {self.cache_name: cache})

    def fork(self, cache: Any) -> Any:
        """A deep copy."""
        return copy.deepcopy(cache)

    def tensors(self, cache: Any) -> dict[str, Tensor]:
        """All tensors that the object leads to, but scalars."""
        return {path: tensor for path, tensor in tensors_in(cache.cache) if tensor.dim()}

    def resume(self, cache: Any, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b v"]:
        """A new process makes a cache of the same shape from another text, and fills it from the file."""
        kept = {path: tensor.clone().contiguous() for path, tensor in self.tensors(cache).items()}
        body = f"""
from safetensors.torch import load_file
from recherche.games.hf_inside import refill
from recherche.games.hf_subjects import Carried, HFSubject
subject = HFSubject(model=model, label="", recipe="")
with torch.inference_mode():
    carried = subject.extend(torch.full(({tokens.shape[0]}, {cache.length}), 5), None).cache
    cache = refill(carried.cache, load_file(folder / "cache"))
    after = subject.extend(torch.tensor({tokens.tolist()}), Carried(cache, {cache.length}))
    logits = after.readings[-1].logits
"""
        return in_new_process(self.recipe + body, lambda folder: save_file(kept, folder / "cache"))

    def generate(self, tokens: Int[Tensor, "1 t"], num_new: int, *, from_cache: bool) -> list[int]:
        """The model's own generate.

        Raises:
            Refusal: the model has none.
        """
        if not hasattr(self.model, "generate"):
            raise Refusal("the model has no generate")
        out = self.model.generate(
            tokens,
            attention_mask=torch.ones_like(tokens),
            min_new_tokens=num_new,
            max_new_tokens=num_new,
            do_sample=False,
            use_cache=from_cache,
        )
        return out[0, tokens.shape[1] :].tolist()

    def misname(self, cache: Any, tokens: Int[Tensor, "b t"]) -> tuple[str, Float[Tensor, "b v"]]:
        """The cache under every other name; of those that are accepted, the one that goes wrong most.

        Raises:
            Refusal: every other name is refused.
        """
        right = self.extend(tokens, self.fork(cache)).readings[-1].logits
        given = self._positions(tokens, cache.length)
        accepted = []
        for name in CACHE_NAMES:
            if name == self.cache_name:
                continue
            try:
                out = self.model(tokens, use_cache=True, **given, **{name: self.fork(cache).cache})
            except (TypeError, ValueError):
                continue
            accepted.append((name, out.logits[:, -1]))
        if not accepted:
            raise Refusal("every other name is refused")
        return max(accepted, key=lambda named: float((named[1] - right).abs().max()))

    def script(self, check: str) -> str:
        """A program that needs nothing but torch and transformers."""
        return bug_report(
            check,
            self.recipe,
            cache_name=self.cache_name,
            takes_positions=self.takes_positions,
            returns_cache=self._own_cache() is None,
        )


def _readings(logits: Float[Tensor, "b t v"], layers: Mapping[int, Tensor]) -> list[Reading]:
    """A reading of each position."""
    outputs = [layer.flatten(2) for _, layer in sorted(layers.items())]
    return [Reading(logits[:, t], tuple(layer[:, t] for layer in outputs)) for t in range(logits.shape[1])]


def tiny_subject(family: str) -> HFSubject:
    """A tiny random model of a family of transformers.

    Raises:
        ConfigError: no such family here, or transformers is not installed or cannot make it.
    """
    settings = lookup(TINY_FAMILIES, family, what="family")
    settings = settings if "text_config" in settings else dict(SHARED) | settings
    auto_class = AUTO_CLASSES.get(family, "AutoModelForCausalLM")
    recipe = f"""
from transformers import AutoConfig, {auto_class}
torch.manual_seed(0)
config = AutoConfig.for_model({family!r}, **{settings!r})
model = {auto_class}.from_config(config).eval()
"""
    return HFSubject(model=_made(recipe, family), label=family, recipe=recipe)


def folder_subject(path: str) -> HFSubject:
    """A model of transformers in a local folder.

    Raises:
        ConfigError: there is no such model, or transformers is not installed.
    """
    recipe = f"""
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained({path!r}, local_files_only=True, dtype=torch.float32).eval()
"""
    return HFSubject(model=_made(recipe, path), label=path, recipe=recipe)


def _made(recipe: str, what: str) -> Any:
    """The `model` that a recipe makes.

    Raises:
        ConfigError: it does not.
    """
    names: dict[str, Any] = {"torch": torch}
    try:
        with torch.random.fork_rng(devices=[]):
            exec(recipe, names)
    except ImportError as error:
        raise ConfigError(f"{what} needs transformers: {error}; pip install 'recherche[hf]'.") from error
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RuntimeError) as error:
        raise ConfigError(f"transformers cannot make {what}: {error}") from error
    return names["model"]
