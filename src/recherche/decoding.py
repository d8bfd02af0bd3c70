"""Greedy decoding from states: one prefill, then one `step` per token; a session may force tokens in between.

All rows of a batch advance together, each on its own course. Writing x for a row's next token,

    x   = the first waiting forced token, if there is one, else argmax(logits)
    session.feed(x)  if x was generated           the session may return tokens to force (what a search has found)
    logits, state = model.step(x, state)          forced or generated, every token enters the state

so a prefix is never computed twice. A row ends when it generates an answer token outside a query, or when its budget of
tokens is used up; rows that have ended leave the batch. Only generated tokens reach the session and can be an answer:
a control or answer token in the prompt or in a retrieved span is data.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from recherche.batching import pad_right
from recherche.errors import ConfigError
from recherche.mixers.state import select_rows

KEEP_SHARE = 0.75
"""Ended rows leave the batch once less than this share of it runs: copying states then costs O(1) per token."""


@runtime_checkable
class Decoder(Protocol):
    """A model that reads and writes tokens from an explicit state; a language model or a construction."""

    @property
    def device(self) -> torch.device:
        """Where tokens must lie."""

    def prefill(
        self, tokens: Int[Tensor, "b t"], state: Any = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b v"], Any]:
        """Logits after the last real token of each row, and the state there."""

    def step(self, token: Int[Tensor, " b"], state: Any) -> tuple[Float[Tensor, "b v"], Any]:
        """Logits after one more token, and the state after it."""


@runtime_checkable
class Session(Protocol):
    """What listens to the tokens that one row generates and may answer with tokens to append."""

    @property
    def in_query(self) -> bool:
        """Whether the next generated token would be part of a query, so that it cannot be an answer."""

    def feed(self, token: int) -> tuple[int, ...]:
        """Hear one generated token; return the ids to append after it, usually none."""

    def finish(self) -> Any:
        """Hear that the text has ended."""


class EndReason(StrEnum):
    """Why a row stopped."""

    ANSWER = "answer"
    BUDGET = "budget"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What one row wrote.

    Attributes:
        tokens: ids after the prompt, generated and retrieved.
        generated: True where the model chose the token, False where a session forced it.
        answer: the id that ended the text, or None if the budget ran out first.
        reason: why the row stopped.
    """

    tokens: Int[np.ndarray, " t"]
    generated: Bool[np.ndarray, " t"]
    answer: int | None
    reason: EndReason


@torch.inference_mode()
def generate(
    model: Decoder,
    prompts: Sequence[Int[np.ndarray, " _"]],
    *,
    sessions: Sequence[Session] | None = None,
    stop_ids: Collection[int],
    max_new_tokens: int | Int[np.ndarray, " b"],
    state: Any = None,
) -> list[Generation]:
    """Decode all prompts greedily, one `step` per token.

    Args:
        sessions: one listener for each prompt; it must already know its prompt. None: nothing is searched.
        stop_ids: tokens that end a row when it generates one outside a query.
        max_new_tokens: budget in tokens, retrieved ones included; one number, or one for each row.
        state: where to go on from, one row for each prompt; None: the beginning of a text.

    Raises:
        ConfigError: a prompt is empty, or there is not one session and one budget for each prompt.
    """
    budgets = _budgets_of(prompts, max_new_tokens)
    if sessions is not None and len(sessions) != len(prompts):
        raise ConfigError(
            f"{len(prompts)} prompts need one session each, got {len(sessions)}; open one for each prompt."
        )
    rows = _Rows(budgets, sessions, stop_ids)
    tokens, lengths = pad_right(prompts, device=model.device)
    logits, state = model.prefill(tokens, state, lengths=lengths)
    while True:
        chosen = rows.advance(logits.argmax(dim=-1).cpu().numpy())
        if not rows.live.any():
            return rows.generations()
        if rows.live.mean() < KEEP_SHARE:
            kept = rows.drop_ended()
            state = select_rows(state, torch.from_numpy(kept).to(model.device))
            chosen = chosen[kept]
        logits, state = model.step(torch.from_numpy(chosen).to(model.device), state)


def _budgets_of(
    prompts: Sequence[Int[np.ndarray, " _"]], max_new_tokens: int | Int[np.ndarray, " b"]
) -> Int[np.ndarray, " b"]:
    if not len(prompts) or min(len(prompt) for prompt in prompts) == 0:
        raise ConfigError(
            "Decoding needs prompts of at least one token each, got none or an empty one; drop empty prompts."
        )
    budgets = np.atleast_1d(np.asarray(max_new_tokens, dtype=np.int64))
    if budgets.size not in (1, len(prompts)) or budgets.min() < 1:
        raise ConfigError(
            f"max_new_tokens must be one number, or one for each of the {len(prompts)} prompts, each at least 1; "
            f"got {budgets.size} with minimum {budgets.min()}."
        )
    return np.broadcast_to(budgets, (len(prompts),))


@final
class _Rows:
    """What each row has written, what is forced on it next, and which rows still run.

    Every running row gets one token at a time, so all write to the same column of `tokens`; a result to be forced is
    written into the columns ahead and marked as not generated there. `running` holds the row number at each place of
    the model's batch, `live` whether that row has not ended yet.
    """

    def __init__(
        self, budgets: Int[np.ndarray, " b"], sessions: Sequence[Session] | None, stop_ids: Collection[int]
    ) -> None:
        shape = (len(budgets), int(budgets.max()))
        self.budgets = budgets
        self.sessions = sessions
        self.stop_ids = np.array(sorted(stop_ids), dtype=np.int64)
        self.tokens = np.zeros(shape, dtype=np.int64)
        self.generated = np.ones(shape, dtype=bool)
        self.lengths = np.zeros(len(budgets), dtype=np.int64)
        self.answered = np.zeros(len(budgets), dtype=bool)
        self.running = np.arange(len(budgets))
        self.live = np.ones(len(budgets), dtype=bool)
        self.column = 0

    def advance(self, proposals: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
        """Write the next token of each row, forced or proposed; return what the model must read."""
        chosen_freely = self.generated[self.running, self.column]
        chosen = np.where(chosen_freely, proposals, self.tokens[self.running, self.column])
        self.tokens[self.running, self.column] = chosen
        heard = chosen_freely & self.live
        answers = heard & np.isin(chosen, self.stop_ids)
        self.column += 1
        if self.sessions is not None:
            self._feed(chosen, np.flatnonzero(heard), answers)
        self._end(answers)
        return chosen

    def _feed(
        self, chosen: Int[np.ndarray, " k"], places: Int[np.ndarray, " h"], answers: Bool[np.ndarray, " k"]
    ) -> None:
        """Tell the sessions what was generated; strike answers that are part of a query; note what is to be forced."""
        assert self.sessions is not None
        for place, row, token in zip(
            places.tolist(), self.running[places].tolist(), chosen[places].tolist(), strict=True
        ):
            session = self.sessions[row]
            if answers[place] and session.in_query:
                answers[place] = False
            if forced := session.feed(token):
                ahead = slice(self.column, self.column + len(forced))
                self.generated[row, ahead] = False
                self.tokens[row, ahead] = forced[: self.tokens.shape[1] - self.column]

    def _end(self, answers: Bool[np.ndarray, " k"]) -> None:
        """End the rows that have answered or used up their budget."""
        ended = self.live & (answers | (self.budgets[self.running] <= self.column))
        rows = self.running[ended]
        self.lengths[rows] = self.column
        self.answered[rows] = answers[ended]
        self.live &= ~ended
        if self.sessions is not None:
            for row in rows.tolist():
                self.sessions[row].finish()

    def drop_ended(self) -> Int[np.ndarray, " k"]:
        """Forget the places of rows that have ended; return the places that are kept."""
        kept = np.flatnonzero(self.live)
        self.running = self.running[kept]
        self.live = self.live[kept]
        return kept

    def generations(self) -> list[Generation]:
        """What each row wrote, in the order of the prompts."""
        return [
            Generation(
                tokens=tokens[:length].copy(),
                generated=generated[:length].copy(),
                answer=int(tokens[length - 1]) if answered else None,
                reason=EndReason.ANSWER if answered else EndReason.BUDGET,
            )
            for tokens, generated, length, answered in zip(
                self.tokens, self.generated, self.lengths.tolist(), self.answered.tolist(), strict=True
            )
        ]
