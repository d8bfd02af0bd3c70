"""Models of the transformers library before the contract, through their own forward, cache and generate.

A cache there is an object that is changed in place, so a fork is a deep copy; its tensors are found by walking the
object. The argument that takes it has had several names, and each model knows one.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import save_file
from torch import Tensor, nn

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.games.contract import AbstractSubject, Reading, Refusal
from recherche.games.subjects import in_new_process
from recherche.games.tiny_families import SHARED, TINY_FAMILIES

CACHE_NAMES = ("cache", "past_key_values", "cache_params", "state")


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
        return int(self.model.config.vocab_size)

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

    def full(self, tokens: Int[Tensor, "b t"]) -> list[Reading]:
        """One forward pass without a cache."""
        out = self.model(tokens, use_cache=False, output_hidden_states=True)
        layers = tuple((out.hidden_states or ())[1:])
        return [Reading(out.logits[:, t], tuple(layer[:, t] for layer in layers), None) for t in range(tokens.shape[1])]

    def extend(self, tokens: Int[Tensor, "b t"], cache: Any) -> Reading:
        """One forward pass from the cache."""
        given = {} if cache is None else {self.cache_name: cache}
        out = self.model(tokens, use_cache=True, output_hidden_states=True, **given)
        layers = tuple(layer[:, -1] for layer in (out.hidden_states or ())[1:])
        return Reading(out.logits[:, -1], layers, out.get(self.cache_name))

    def padded(self, tokens: Int[Tensor, "b t"], real: Bool[Tensor, "b t"]) -> Float[Tensor, "b v"]:
        """One forward pass with a mask, and positions that count real tokens, as `generate` gives them.

        Raises:
            Refusal: the model takes no mask.
        """
        accepted = inspect.signature(self.model.forward).parameters
        if "attention_mask" not in accepted:
            raise Refusal("the model takes no attention_mask")
        given: dict[str, Tensor] = {"attention_mask": real.long()}
        if "position_ids" in accepted:
            given["position_ids"] = (real.long().cumsum(dim=1) - 1).clamp(min=0)
        logits = self.model(tokens, use_cache=False, **given).logits
        last = real.shape[1] - 1 - real.flip(1).long().argmax(dim=1)
        return logits[torch.arange(len(tokens)), last]

    def fork(self, cache: Any) -> Any:
        """A deep copy."""
        return copy.deepcopy(cache)

    def tensors(self, cache: Any) -> dict[str, Tensor]:
        """All tensors that the object leads to, but scalars."""
        return {path: tensor for path, tensor in walk(cache) if tensor.dim()}

    def resume(self, cache: Any, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b v"]:
        """A new process makes a cache of the same shape from another text, and fills it from the file."""
        kept = {path: tensor.clone().contiguous() for path, tensor in self.tensors(cache).items()}
        body = f"""
from safetensors.torch import load_file
from recherche.games.hf_subjects import walk
with torch.inference_mode():
    cache = model(torch.full(({tokens.shape[0]}, 16), 5), use_cache=True)[{self.cache_name!r}]
    for path, tensor in load_file(folder / "cache").items():
        dict(walk(cache))[path].copy_(tensor)
    logits = model(torch.tensor({tokens.tolist()}), use_cache=True, {self.cache_name}=cache).logits[:, -1]
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
        right = self.extend(tokens, self.fork(cache)).logits
        accepted = []
        for name in CACHE_NAMES:
            if name == self.cache_name:
                continue
            try:
                logits = self.model(tokens, use_cache=True, **{name: self.fork(cache)}).logits[:, -1]
            except (TypeError, ValueError):
                continue
            accepted.append((name, logits))
        if not accepted:
            raise Refusal("every other name is refused")
        return max(accepted, key=lambda named: float((named[1] - right).abs().max()))

    def script(self, chunk: int) -> str:
        """Full forward against chunks."""
        return f"""import torch
{self.recipe.strip()}
tokens = torch.randint(4, model.config.vocab_size, (1, 40))
with torch.inference_mode():
    whole = model(tokens, use_cache=False).logits[:, -1]
    given = {{}}
    for part in tokens.split({chunk}, dim=1):
        out = model(part, use_cache=True, **given)
        given = {{"{self.cache_name}": out["{self.cache_name}"]}}
print("relative error", float((out.logits[:, -1] - whole).abs().max() / whole.abs().max()))
"""


def walk(thing: Any, path: str = "") -> Iterator[tuple[str, Tensor]]:
    """All tensors that an object of transformers leads to, with their paths; modules are not entered."""
    if isinstance(thing, Tensor):
        yield path, thing
    elif isinstance(thing, dict):
        for name, part in thing.items():
            yield from walk(part, f"{path}.{name}" if path else str(name))
    elif isinstance(thing, list | tuple):
        for place, part in enumerate(thing):
            yield from walk(part, f"{path}.{place}" if path else str(place))
    elif type(thing).__module__.startswith("transformers.") and not isinstance(thing, nn.Module):
        yield from walk(vars(thing) if hasattr(thing, "__dict__") else (), path)


def tiny_subject(family: str) -> HFSubject:
    """A tiny random model of a family of transformers.

    Raises:
        ConfigError: no such family here, or transformers is not installed or cannot make it.
    """
    settings = dict(SHARED) | lookup(TINY_FAMILIES, family, what="family")
    recipe = f"""
from transformers import AutoConfig, AutoModelForCausalLM
torch.manual_seed(0)
config = AutoConfig.for_model({family!r}, **{settings!r})
model = AutoModelForCausalLM.from_config(config).eval()
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
