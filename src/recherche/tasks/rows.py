"""From what a task writes to the rows of a batch: prompts and targets side by side, padded to the longest row.

A batch and a single example go through the same two functions, so that they cannot differ.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.tasks.base import Batch, Example
from recherche.vocab import Vocab


@final
@dataclass(frozen=True, slots=True)
class Prompts:
    """One prompt a row; what lies past `lengths` has no meaning.

    `loss_mask` is True at the answers to earlier questions, where a prompt holds such; None if it holds none.
    """

    tokens: Int64[np.ndarray, "b p"]
    lengths: Int64[np.ndarray, " b"]
    loss_mask: Bool[np.ndarray, "b p"] | None = None


@final
@dataclass(frozen=True, slots=True)
class Targets:
    """One target a row, the answer last; `loss_mask` is False where a search returns the token."""

    tokens: Int64[np.ndarray, "b q"]
    loss_mask: Bool[np.ndarray, "b q"]
    lengths: Int64[np.ndarray, " b"]


@compiled
def append_rows(
    rows: Int64[np.ndarray, "b t"],
    loss_mask: Bool[np.ndarray, "b t"],
    starts: Int64[np.ndarray, " b"],
    added: Int64[np.ndarray, "b q"],
    mask: Bool[np.ndarray, "b q"],
    lengths: Int64[np.ndarray, " b"],
) -> None:
    """Write the first `lengths` tokens of each row of `added`, and their mask, into `rows` from `starts` on."""
    for row in range(len(rows)):
        for i in range(lengths[row]):
            rows[row, starts[row] + i] = added[row, i]
            loss_mask[row, starts[row] + i] = mask[row, i]


def batch_of(keys: UInt64[np.ndarray, " b"], prompts: Prompts, targets: Targets) -> Batch:
    """Each prompt followed by its target, padded with id 0 to the longest row."""
    n_rows = len(keys)
    lengths = prompts.lengths + targets.lengths
    width = int(lengths.max(initial=0))
    tokens, loss_mask = np.zeros((n_rows, width), np.int64), np.zeros((n_rows, width), np.bool_)
    asked = np.zeros(prompts.tokens.shape, np.bool_) if prompts.loss_mask is None else prompts.loss_mask
    append_rows(tokens, loss_mask, np.zeros(n_rows, np.int64), prompts.tokens, asked, prompts.lengths)
    append_rows(tokens, loss_mask, prompts.lengths, targets.tokens, targets.loss_mask, targets.lengths)
    answers = targets.tokens[np.arange(n_rows), targets.lengths - 1]
    return Batch(
        tokens=tokens,
        loss_mask=loss_mask,
        prompt_lengths=prompts.lengths,
        lengths=lengths,
        answers=answers,
        keys=keys,
    )


def example_of_row(batch: Batch, vocab: Vocab, *, row: int, problem: dict[str, Any]) -> Example:
    """One row of a batch, in tokens."""
    start, stop = int(batch.prompt_lengths[row]), int(batch.lengths[row])
    text = vocab.decode(batch.tokens[row, :stop])
    return Example(
        prompt=text[:start],
        target=text[start:],
        loss_mask=tuple(int(shown) for shown in batch.loss_mask[row, start:stop]),
        answer=text[-1],
        problem=problem,
    )
