"""A prompt that has been read: its text, its ids and the cache after them, to be asked about many times.

A cache goes into a file as tensors and numbers by their paths, and comes back into a cache of the same kind that the
model makes of one token; nothing is unpickled. It belongs to the weights that wrote it, which the file names.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

import copy
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from recherche._files import replacing
from recherche._tensors import write_tensors
from recherche.errors import StateError
from recherche.games.contract_checks import findings
from recherche.games.hf_inside import refill, tensors_in, walk
from recherche.games.hf_subjects import HFSubject
from recherche.lm.capabilities import capabilities_of
from recherche.lm.codec import Codec
from recherche.lm.reading import Tell, cache_in
from recherche.lm.reading_choice import choose_reading

FORMAT = "recherche prompt state 1"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptState:
    """What a model has made of a prompt.

    Attributes:
        text: the prompt.
        ids: its tokens.
        cache: the library's cache after the last of them, one row.
        cache_name: the argument of `forward` that takes it.
        model: fingerprint of the weights that read it.
    """

    text: str
    ids: tuple[int, ...]
    cache: Any
    cache_name: str
    model: str

    @property
    def num_tokens(self) -> int:
        """How many tokens were read."""
        return len(self.ids)

    @property
    def bits(self) -> int:
        """Bits of the cache, at the number type it has."""
        return sum(8 * tensor.numel() * tensor.element_size() for _, tensor in tensors_in(self.cache))

    def kwargs_for(self, rows: int) -> dict[str, Any]:
        """A copy of the cache for so many rows that all go on from it."""
        own = copy.deepcopy(self.cache)
        if rows > 1:
            repeated = {
                path: tensor.repeat_interleave(rows, dim=0)
                for path, tensor in tensors_in(own)
                if tensor.dim() and tensor.shape[0] == 1
            }
            own = refill(own, repeated)
        return {self.cache_name: own}

    def save(self, path: Path) -> None:
        """Write all of it to one file, or nothing."""
        numbers = {name: number for name, number in walk(self.cache, kind=int) if _is_number(number)}
        header = {
            "format": FORMAT,
            "model": self.model,
            "cache_name": self.cache_name,
            "text": self.text,
            "ids": json.dumps(self.ids),
            "numbers": json.dumps(numbers),
        }
        tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors_in(self.cache)}
        with replacing(path) as draft:
            write_tensors(tensors, draft, header)


def read_prompt(model: Any, tokenizer: Any, text: str, *, tell: Tell | None = None) -> PromptState:
    """Read a prompt once.

    Args:
        tell: hears how many tokens have been read, and how many there are.

    Raises:
        StateError: the family keeps a part of its state elsewhere than in its cache.
    """
    subject = HFSubject(model=model, label=type(model).__name__, recipe="")
    if not capabilities_of(model).steps:
        raise StateError(f"Single steps of {subject.name} from its cache are wrong, so it cannot be gone on from.")
    [forked] = findings(subject, ["fork"])
    if not forked.passed:
        raise StateError(
            f"The cache of {subject.name} is not all of its state (a copy of it does not go on as it would itself), so "
            "it cannot be kept; let the model read the text anew for each question."
        )
    codec = Codec(tokenizer)
    ids = codec.encode_prompt(text)
    if not ids:
        raise StateError("A state needs a text of at least one token, got an empty one; give a text.")
    reader = _Reader(tell)
    _generate_once(model, ids, reader)
    return PromptState(
        text=text, ids=tuple(ids), cache=reader.cache, cache_name=reader.cache_name, model=fingerprint_of(model)
    )


def load_prompt_state(path: Path, model: Any) -> PromptState:
    """The state that `PromptState.save` has written, for the same model.

    Raises:
        StateError: the file is damaged, no such state, or that of another model.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name).to(model.device) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise StateError(f"Cannot read the state {path}: {error}; write it anew.") from error
    if header.get("format") != FORMAT:
        raise StateError(
            f"{path} is no state of a prompt ({FORMAT!r} is wanted); write one with `recherche state save`."
        )
    if header["model"] != fingerprint_of(model):
        raise StateError(
            f"{path} was written by other weights than those of this {type(model).__name__}; read the text anew."
        )
    reader = _Reader(None)
    ids = json.loads(header["ids"])
    _generate_once(model, ids[:1], reader)
    leaves = tensors | json.loads(header["numbers"])
    cache = refill(reader.cache, leaves)
    if {name for name, _ in tensors_in(cache)} != set(tensors):
        raise StateError(f"{path} holds other tensors than a cache of {type(model).__name__}; read the text anew.")
    return PromptState(
        text=header["text"], ids=tuple(ids), cache=cache, cache_name=header["cache_name"], model=header["model"]
    )


def fingerprint_of(model: Any) -> str:
    """A short name of a model's configuration and weights: a few numbers of each tensor stand for it."""
    digest = hashlib.sha256(type(model).__name__.encode())
    for name, tensor in model.state_dict().items():
        some = tensor.detach().flatten()[:: max(1, tensor.numel() // 16)].float().cpu().numpy()
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode() + some.tobytes())
    return digest.hexdigest()[:32]


@final
class _Reader:
    """A decoding method that reads the prompt and generates nothing, so that `generate` prepares it as always."""

    def __init__(self, tell: Tell | None) -> None:
        self.cache: Any = None
        self.cache_name = ""
        self._tell = tell

    def __call__(
        self, model: Any, input_ids: Tensor, logits_processor: Any, stopping_criteria: Any, **kwargs: Any
    ) -> Tensor:
        for name in ("generation_config", "synced_gpus", "streamer"):
            kwargs.pop(name, None)
        reading = choose_reading(model, input_ids.shape[1], tell=self._tell)
        outputs = reading.read_prompt(model, input_ids, kwargs)
        [(self.cache_name, self.cache)] = (cache_in(outputs) or cache_in(kwargs)).items()
        return input_ids


def _generate_once(model: Any, ids: list[int], reader: _Reader) -> None:
    given = torch.tensor([ids], device=model.device)
    model.generate(given, attention_mask=torch.ones_like(given), custom_generate=reader, max_new_tokens=1)


def _is_number(number: int) -> bool:
    """Whether a leaf is written as JSON; enumerations that are numbers are not."""
    return type(number) in (int, bool)
