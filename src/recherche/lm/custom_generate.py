"""A decoding method for `model.generate(custom_generate=...)` whose rows are listened to while they write.

Sampling options, logits processors, stopping criteria and the form of the result are the library's own. What it adds:
each row has a listener that may answer with tokens to force (`decode_loop`), prompts are read in the way that is right
for the family (`reading`), and a family that is wrong with several rows side by side is run row by row, with a warning.

`generate` of transformers 5.24 hands neither `streamer` nor `tokenizer` to a callable, so both are given here.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

import copy
import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from transformers.generation import GenerateDecoderOnlyOutput, MaxLengthCriteria, StoppingCriteriaList

from recherche.errors import ConfigError
from recherche.lm.capabilities import capabilities_of
from recherche.lm.compiled_reading import compiled_reading
from recherche.lm.decode_loop import Call, Decoded, EndReason, TextListener, decode
from recherche.lm.prompt_state import PromptState
from recherche.lm.reading import CHUNK, Tell
from recherche.lm.reading_choice import choose_reading

OpenListener = Callable[[Sequence[int]], TextListener]
"""From the ids of a prompt, padding left out, to what listens to its row."""


class OneByOneWarning(UserWarning):
    """Rows of a batch are run one after the other, which changes no answer and costs time."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RowReports:
    """What the rows of a call did; the attribute `rows` of the library's own output.

    Attributes:
        sampled: for each column after the prompt, whether the row sampled it (True) or it was forced.
        lengths: how many columns after the prompt belong to each row; the rest is padding.
        reasons: why each row stopped.
        listeners: what listened to each row.
    """

    sampled: Bool[Tensor, "b n"]
    lengths: list[int]
    reasons: list[EndReason]
    listeners: list[TextListener]


@final
class ListeningGenerate:
    """The decoding method.

    Args:
        open_listener: makes the listener of a row.
        streamer: hears each token, as `generate`'s own does.
        state: a prompt that was read before, with which every prompt begins.
        tell: hears the progress of reading long prompts.
    """

    def __init__(
        self,
        open_listener: OpenListener,
        *,
        streamer: Any = None,
        state: PromptState | None = None,
        tell: Tell | None = None,
    ) -> None:
        self._open, self._streamer, self._state, self._tell = open_listener, streamer, state, tell

    def __call__(
        self,
        model: Any,
        input_ids: Int[Tensor, "b t"],
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        **model_kwargs: Any,
    ) -> Any:
        """Called by `generate`.

        Raises:
            ConfigError: beams, an encoder, no cache, or a prompt longer than the model's positions.
        """
        model_kwargs.pop("synced_gpus", None)
        refuse_what_cannot_be(model, generation_config, input_ids.shape[1])
        call = Call(
            logits_processor=logits_processor,
            stopping_criteria=stopping_criteria,
            config=generation_config,
            streamer=self._streamer,
        )
        can = capabilities_of(model)
        mask = model_kwargs.get("attention_mask")
        real = torch.ones_like(input_ids, dtype=torch.bool) if mask is None else mask.bool()
        listeners = [self._open(row[kept].tolist()) for row, kept in zip(input_ids, real, strict=True)]
        if not can.steps and self._state is None:
            warnings.warn(
                f"{type(model).__name__}: single steps from the cache are off by {can.step_error:.0e} of the "
                "logits, so the whole text is read anew for each token, which is slow.",
                stacklevel=2,
            )
        if reason := _why_alone(model, real, self._state):
            warnings.warn(f"{type(model).__name__}: {reason}; rows run one by one.", OneByOneWarning, stacklevel=2)
            decoded = self._alone(model, input_ids, real, model_kwargs, listeners, call)
        else:
            decoded = self._together(model, input_ids, model_kwargs, listeners, call)
        return _output(decoded, listeners, generation_config)

    def _together(self, model: Any, ids: Tensor, kwargs: dict[str, Any], listeners: Any, call: Call) -> Decoded:
        already = 0
        if self._state is not None:
            already, kwargs = self._state.num_tokens, kwargs | self._state.kwargs_for(len(ids))
        reading = choose_reading(model, ids.shape[1], already=already, tell=self._tell)
        return decode(model, ids, kwargs, listeners=listeners, reading=reading, call=call)

    def _alone(
        self,
        model: Any,
        ids: Int[Tensor, "b t"],
        real: Bool[Tensor, "b t"],
        kwargs: dict[str, Any],
        listeners: Sequence[TextListener],
        call: Call,
    ) -> Decoded:
        """Each row by itself, without its padding."""
        if call.config.return_dict_in_generate and (call.config.output_scores or call.config.output_logits):
            raise ConfigError(
                f"{type(model).__name__} runs row by row, and the scores of rows that end apart make no batch; "
                "give one prompt at a time to have them."
            )
        found = []
        for row in range(len(ids)):
            own = ids[row : row + 1, real[row]]
            padding = ids.shape[1] - own.shape[1]
            mine = {name: _row_of(value, row, len(ids), padding) for name, value in kwargs.items()}
            shorter = replace(call, stopping_criteria=_shortened(call.stopping_criteria, padding))
            found.append(self._together(model, own, mine, [listeners[row]], shorter))
        return _joined(ids, real, found, call.config)


def refuse_what_cannot_be(model: Any, config: Any, prompt_length: int) -> None:
    """Say what searching while generating cannot be combined with.

    Raises:
        ConfigError: it is asked for.
    """
    if model.config.is_encoder_decoder:
        raise ConfigError(
            f"{type(model).__name__} reads its prompt with an encoder, and what is found could not be appended to it; "
            "choose a decoder-only model."
        )
    if config.num_beams > 1:
        raise ConfigError(
            f"Beams share and drop their pasts, so a search would belong to none of them; got num_beams = "
            f"{config.num_beams}: use num_beams=1, greedy or with do_sample=True."
        )
    mode = str(config.get_generation_mode().value)
    if mode not in ("greedy_search", "sample"):
        raise ConfigError(
            f"Searches are made while generating token by token, got the mode {mode}; use greedy or sampling."
        )
    if config.use_cache is False:
        raise ConfigError("Generating goes on from a cache, got use_cache=False; leave it out.")
    positions = positions_of(model)
    if positions is not None and prompt_length > positions:
        raise ConfigError(
            f"The prompt has {prompt_length:,} tokens, and {type(model).__name__} has {positions:,} positions "
            "(config.max_position_embeddings); shorten it, or load the model with more positions."
        )


def positions_of(model: Any) -> int | None:
    """How many tokens the model can tell apart by position; None where nothing bounds them."""
    if "position_ids" not in inspect.signature(model.forward).parameters:
        return None
    config = model.config.get_text_config()
    return getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)


def _why_alone(model: Any, real: Bool[Tensor, "b t"], state: PromptState | None) -> str:
    """Why these rows cannot be run side by side; empty if they can."""
    can = capabilities_of(model)
    if len(real) == 1:
        return ""
    if not can.rows:
        return "single steps of several rows side by side are not what each row gives alone"
    if real.all():
        return ""
    if state is not None:
        return "questions of unequal length go on from one state"
    if not can.padding:
        return "padded rows are not what each row gives alone"
    is_long = real.shape[1] > CHUNK and compiled_reading(model, real.shape[1]) is None
    return "prompts of unequal length that are read in chunks" if is_long else ""


def _row_of(value: Any, row: int, rows: int, padding: int) -> Any:
    """One row's share of what `generate` prepared for all: tensors without padding, a cache of its own."""
    if isinstance(value, Tensor) and value.dim() >= 2 and value.shape[0] in (1, rows):
        return value[min(row, value.shape[0] - 1) :][:1][..., padding:]
    return value if isinstance(value, Tensor | bool | int | float | str | None) else copy.deepcopy(value)


def _shortened(criteria: Any, padding: int) -> Any:
    """The same criteria for a row without its padding, which `generate` has counted."""
    return StoppingCriteriaList(
        MaxLengthCriteria(one.max_length - padding) if isinstance(one, MaxLengthCriteria) else one for one in criteria
    )


def _joined(ids: Int[Tensor, "b t"], real: Bool[Tensor, "b t"], found: Sequence[Decoded], config: Any) -> Decoded:
    """Rows that were run one by one as one batch, with the prompts as they were given."""
    pad = int(config._pad_token_tensor) if config._pad_token_tensor is not None else 0
    most = max(one.lengths[0] for one in found)
    sequences = torch.full((len(ids), ids.shape[1] + most), pad, dtype=ids.dtype, device=ids.device)
    sampled = torch.zeros(len(ids), most, dtype=torch.bool, device=ids.device)
    sequences[:, : ids.shape[1]] = ids
    for row, one in enumerate(found):
        length, prompt = one.lengths[0], int(real[row].sum())
        sequences[row, ids.shape[1] : ids.shape[1] + length] = one.sequences[0, prompt : prompt + length]
        sampled[row, :length] = one.sampled[0, :length]
    return replace(
        found[0],
        sequences=sequences,
        sampled=sampled,
        lengths=[one.lengths[0] for one in found],
        reasons=[one.reasons[0] for one in found],
        kwargs={},
    )


def _output(decoded: Decoded, listeners: list[TextListener], config: Any) -> Any:
    if not config.return_dict_in_generate:
        return decoded.sequences
    fields: dict[str, Any] = {
        "sequences": decoded.sequences,
        "scores": decoded.scores,
        "logits": decoded.logits,
        "attentions": decoded.attentions,
        "hidden_states": decoded.hidden_states,
        "cache": decoded.kwargs.get("cache"),
    }
    output = GenerateDecoderOnlyOutput(**fields)
    output.rows = RowReports(
        sampled=decoded.sampled, lengths=decoded.lengths, reasons=decoded.reasons, listeners=listeners
    )
    return output
