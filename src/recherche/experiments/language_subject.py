"""A folder with a language model, as something that is measured: it writes answers, counts tokens, keeps a state.

By protocol `search` the model searches its context while it writes; by `direct` it writes alone, and where it has a
token that would begin a search, that token is never chosen: such an answer would wait for a passage that never comes.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, final, runtime_checkable

from recherche._lookup import lookup
from recherche.errors import StateError
from recherche.experiments.versions import device_name
from recherche.lm import Markers, Written, generate_plain, generate_with_search, load_language_model, read_prompt
from recherche.lm.codec import Codec
from recherche.lm.custom_generate import OneByOneWarning, positions_of
from recherche.lm.folder import DTYPES
from recherche.lm.markers import markers_of, own_markers

ANSWER_END = "\n"
"""An answer is one line."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectFacts:
    """What is known of a model before it is asked.

    Attributes:
        model_type: its family, in the words of transformers.
        num_parameters: how many numbers its weights are.
        dtype: number type of weights and state.
        device: where it runs, in words.
        positions: how many tokens it can tell apart; None where nothing bounds them.
        markers: how it writes a search.
    """

    model_type: str
    num_parameters: int
    dtype: str
    device: str
    positions: int | None = None
    markers: Markers = field(default_factory=Markers)


@runtime_checkable
class LanguageSubject(Protocol):
    """What a measurement needs of a model."""

    @property
    def facts(self) -> SubjectFacts:
        """What is known before it is asked."""

    def count(self, text: str) -> int:
        """How many tokens a prompt is."""

    def state_bits(self, prompt: str) -> int | None:
        """Bits of the live cache of one row after a prompt; None where the cache is not all of the state."""

    def write(self, protocol: str, prompts: Sequence[str], *, max_new_tokens: int) -> list[Written]:
        """What the model writes after each prompt, up to the end of a line."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSubject:
    """The model and the tokenizer of a folder."""

    model: Any
    tokenizer: Any
    facts: SubjectFacts

    def count(self, text: str) -> int:
        """How many tokens a prompt is."""
        return len(Codec(self.tokenizer).encode_prompt(text))

    def state_bits(self, prompt: str) -> int | None:
        """Bits of the live cache of one row after a prompt; None where the cache is not all of the state."""
        try:
            return read_prompt(self.model, self.tokenizer, prompt).bits
        except StateError:
            return None

    def write(self, protocol: str, prompts: Sequence[str], *, max_new_tokens: int) -> list[Written]:
        """What the model writes after each prompt, up to the end of a line."""
        given: dict[str, Any] = {"max_new_tokens": max_new_tokens, "stop_strings": (ANSWER_END,), "do_sample": False}
        special = markers_of(self.tokenizer)
        if protocol != "search" and special is not None:
            given["suppress_tokens"] = [special.start]
        generate = generate_with_search if protocol == "search" else generate_plain
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OneByOneWarning)  # it would stand between the lines of the progress
            return generate(self.model, self.tokenizer, list(prompts), **given)


def load_subject(folder: Path, *, device: str, dtype: str) -> FolderSubject:
    """The model of a folder, ready to be measured.

    Raises:
        ConfigError: the folder holds none that can be run, or the number type is unknown.
    """
    number_type = lookup(DTYPES, dtype, what="number type")
    model, tokenizer = load_language_model(folder, device=device, dtype=number_type)
    facts = SubjectFacts(
        model_type=str(model.config.model_type),
        num_parameters=sum(weight.numel() for weight in model.parameters()),
        dtype=str(model.dtype).removeprefix("torch."),
        device=device_name(device),
        positions=positions_of(model),
        markers=own_markers(tokenizer) or Markers(),
    )
    return FolderSubject(model=model, tokenizer=tokenizer, facts=facts)
