"""The decoder loop for models of transformers: their own `generate`, but a row may have tokens forced on it.

Writing x for a row's next token, `queue` for what waits to be forced on it,

    x = queue.pop()  if there is one, else sampled from the processed logits as `generate` samples
    queue += session.feed(x)   if x was sampled: a search may have ended, and what it found waits now
    logits, cache = model(x, cache)

so rows of a batch search at different moments, no row waits for another, and nothing is padded in between. Where every
row has tokens waiting and the family is right in chunks, as many as all have are read in one pass. A row ends when a
token that it has sampled ends it, never by what was forced on it; only length and time end any row.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, final, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers.generation import MaxLengthCriteria, MaxTimeCriteria

from recherche.lm.reading_choice import Reading


@runtime_checkable
class TextListener(Protocol):
    """What hears the tokens that one row samples and may answer with tokens to force."""

    @property
    def text(self) -> str:
        """Everything that follows the prompt."""

    @property
    def answer_text(self) -> str:
        """What the row has written itself outside queries."""

    @property
    def searches(self) -> Sequence[Any]:
        """What it asked, and what came of it."""

    @property
    def has_ended(self) -> bool:
        """Whether what was written so far ends the row, by a stop string for example."""

    def feed(self, token: int) -> Sequence[int]:
        """Hear one sampled token; return the ids to append after it, usually none."""

    def hear_forced(self, token: int) -> None:
        """Hear that one forced token has been appended."""

    def finish(self) -> None:
        """Hear that the text has ended."""


class EndReason(StrEnum):
    """Why a row stopped."""

    EOS = "eos"
    STOP_STRING = "stop string"
    LENGTH = "length"
    TIME = "time"
    CRITERION = "stopping criterion"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What `generate` hands to a decoding method, the same for all rows."""

    logits_processor: Any
    stopping_criteria: Any
    config: Any
    streamer: Any


@final
@dataclass(slots=True, kw_only=True)
class Decoded:
    """What came of a batch.

    Attributes:
        sequences: prompts and what follows, padded on the right where a row has ended before others.
        sampled: which columns after the prompt each row has sampled itself.
        lengths: how many columns after the prompt belong to each row.
        reasons: why each row stopped.
        scores, logits, hidden_states, attentions: a tuple with an entry for each column, where they were asked for.
        kwargs: what the next forward pass would take; the cache is among it.
    """

    sequences: Int[Tensor, "b t"]
    sampled: Bool[Tensor, "b n"]
    lengths: list[int]
    reasons: list[EndReason]
    scores: tuple[Tensor, ...] | None
    logits: tuple[Tensor, ...] | None
    hidden_states: tuple[Any, ...] | None
    attentions: tuple[Any, ...] | None
    kwargs: dict[str, Any]


@final
class _Records:
    """What `generate` is asked to keep of each step."""

    def __init__(self, config: Any) -> None:
        wanted = config.return_dict_in_generate
        self.kept: dict[str, list[Any] | None] = {
            name: [] if wanted and getattr(config, f"output_{name}") else None
            for name in ("scores", "logits", "hidden_states", "attentions")
        }

    @property
    def wants_every_step(self) -> bool:
        """Whether an entry for each token was asked for, so that none may be read in a chunk."""
        return any(kept is not None for kept in self.kept.values())

    def add(self, outputs: Any, logits: Tensor, scores: Tensor) -> None:
        """Keep what was asked for."""
        values = {"scores": scores, "logits": logits}
        for name, kept in self.kept.items():
            if kept is not None:
                kept.append(values[name] if name in values else outputs.get(name))

    def get(self, name: str) -> tuple[Any, ...] | None:
        """All that was kept under a name."""
        kept = self.kept[name]
        return None if kept is None else tuple(kept)


@final
class _Rows:
    """The queues of the rows, and which of them still run."""

    def __init__(self, listeners: Sequence[TextListener], device: torch.device) -> None:
        self.listeners = listeners
        self.queues: list[deque[int]] = [deque() for _ in listeners]
        self.reasons: list[EndReason | None] = [None] * len(listeners)
        self.ends = [0] * len(listeners)
        self.device = device

    @property
    def running(self) -> list[int]:
        """Rows that have not ended."""
        return [row for row, reason in enumerate(self.reasons) if reason is None]

    def take(self, chosen: Int[Tensor, " b"], pad: int) -> tuple[Int[Tensor, "b 1"], Bool[Tensor, "b 1"]]:
        """The next token of each row, and whether it was sampled; padding for rows that have ended."""
        tokens, sampled = chosen.tolist(), [False] * len(self.queues)
        for row, queue in enumerate(self.queues):
            if self.reasons[row] is not None:
                tokens[row] = pad
            elif queue:
                tokens[row] = queue.popleft()
                self.listeners[row].hear_forced(tokens[row])
            else:
                sampled[row] = True
                queue.extend(self.listeners[row].feed(tokens[row]))
        return torch.tensor(tokens, device=self.device)[:, None], torch.tensor(sampled, device=self.device)[:, None]

    def take_waiting(self, room: int, pad: int) -> Int[Tensor, "b k"]:
        """As many tokens as wait in the queue of every running row, `room` at most."""
        count = min([room, *(len(self.queues[row]) for row in self.running)])
        tokens = [[pad] * count for _ in self.queues]
        for row in self.running:
            tokens[row] = [self.queues[row].popleft() for _ in range(count)]
            for token in tokens[row]:
                self.listeners[row].hear_forced(token)
        return torch.tensor(tokens, dtype=torch.int64, device=self.device).reshape(len(self.queues), count)

    def end(self, ids: Int[Tensor, "b t"], sampled: Bool[Tensor, "b 1"], call: Call, scores: Any) -> None:
        """Note which rows have ended by their last token."""
        ran = self.running
        by_sampling = sampled[:, 0].tolist()
        for criterion in call.stopping_criteria:
            reason = _reason_of(criterion)
            stops = criterion(ids, scores).tolist()
            for row in self.running:
                if stops[row] and (by_sampling[row] or reason in (EndReason.LENGTH, EndReason.TIME)):
                    self.reasons[row] = reason
        for row in self.running:
            if by_sampling[row] and self.listeners[row].has_ended:
                self.reasons[row] = EndReason.STOP_STRING
        for row in ran:
            self.ends[row] = ids.shape[1]


def _reason_of(criterion: Any) -> EndReason:
    if isinstance(criterion, MaxLengthCriteria):
        return EndReason.LENGTH
    if isinstance(criterion, MaxTimeCriteria):
        return EndReason.TIME
    return EndReason.EOS if hasattr(criterion, "eos_token_id") else EndReason.CRITERION


def decode(
    model: Any,
    ids: Int[Tensor, "b t"],
    kwargs: dict[str, Any],
    *,
    listeners: Sequence[TextListener],
    reading: Reading,
    call: Call,
) -> Decoded:
    """Read the prompts, then go on token by token until every row has ended.

    Args:
        ids: prompts, padded on the left.
        kwargs: what the model's forward takes beside them, as `generate` prepares it.
        listeners: one for each row.
        reading: how the model reads what is right for its family.
    """
    rows, records, start = _Rows(listeners, ids.device), _Records(call.config), ids.shape[1]
    pad = int(call.config._pad_token_tensor) if call.config._pad_token_tensor is not None else 0
    sampled = torch.zeros(len(ids), 0, dtype=torch.bool, device=ids.device)
    longest = min(
        (criterion.max_length for criterion in call.stopping_criteria if isinstance(criterion, MaxLengthCriteria)),
        default=call.config.max_length,
    )
    may_chunk = reading.chunks and not records.wants_every_step
    outputs = reading.read_prompt(model, ids, kwargs)
    while True:
        logits = outputs.logits[:, -1].to(copy=True, dtype=torch.float32, device=ids.device)
        scores = call.logits_processor(ids, logits)
        records.add(outputs, logits, scores)
        token, is_sampled = rows.take(_choose(scores, call.config.do_sample), pad)
        ids, sampled, count = torch.cat([ids, token], dim=1), torch.cat([sampled, is_sampled], dim=1), 1
        _stream(call, ids[:, -1:])
        rows.end(ids, is_sampled, call, records.get("scores"))
        if rows.running and may_chunk and all(rows.queues[row] for row in rows.running):
            waiting = rows.take_waiting(longest - ids.shape[1], pad)
            ids, count = torch.cat([ids, waiting], dim=1), 1 + waiting.shape[1]
            sampled = torch.cat([sampled, torch.zeros_like(waiting, dtype=torch.bool)], dim=1)
            _stream(call, waiting)
            rows.end(ids, torch.zeros_like(is_sampled), call, records.get("scores"))
        kwargs = model._update_model_kwargs_for_generation(outputs, kwargs, num_new_tokens=count)
        if not rows.running:
            break
        del outputs  # its logits may be large
        outputs = reading.read_on(model, ids, kwargs, count)
    if call.streamer is not None:
        call.streamer.end()
    return Decoded(
        sequences=ids,
        sampled=sampled,
        lengths=[end - start for end in rows.ends],
        reasons=[reason for reason in rows.reasons if reason is not None],
        **{name: records.get(name) for name in records.kept},
        kwargs=kwargs,
    )


def _choose(scores: Float[Tensor, "b v"], do_sample: bool) -> Int[Tensor, " b"]:
    """The next token of each row, as `generate` chooses it."""
    if do_sample:
        return torch.multinomial(scores.softmax(dim=-1), num_samples=1).squeeze(1)
    return scores.argmax(dim=-1)


def _stream(call: Call, tokens: Int[Tensor, "b k"]) -> None:
    if call.streamer is not None:
        for token in tokens.T.cpu():
            call.streamer.put(token)
