"""From a task's arrays to tensors: next-token inputs, targets, and prompts padded on the right.

    tokens   <s> 1 ~ 2 <d>  1   2   1 YES <pad>
    inputs   <s> 1 ~ 2 <d>  1   2   1 YES           all but the last
    targets   -  - - -  1   2   1  YES  -           IGNORE_INDEX where the model is not scored

The model is scored on what it must produce itself: never on the prompt, on retrieved tokens or on padding.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from recherche.tasks.base import Batch

IGNORE_INDEX = -100
"""The target of a position that does not count; the number that torch's losses skip by default."""


class TokenTensors(NamedTuple):
    """What a training or evaluation step reads.

    Attributes:
        inputs: token ids, right-padded with 0.
        targets: the token after each input, or IGNORE_INDEX.
    """

    inputs: Int[Tensor, "b t"]
    targets: Int[Tensor, "b t"]


def to_tensors(batch: Batch, *, device: torch.device | None = None) -> TokenTensors:
    """The inputs and targets of a batch, cut to its longest row."""
    longest = int(batch.lengths.max())
    tokens = np.asarray(batch.tokens[:, :longest], dtype=np.int64)
    targets = np.where(batch.loss_mask[:, 1:longest], tokens[:, 1:], IGNORE_INDEX)
    return TokenTensors(
        torch.from_numpy(tokens[:, :-1].copy()).to(device),
        torch.from_numpy(targets).to(device),
    )


def prompts_of(batch: Batch) -> list[Int[np.ndarray, " t"]]:
    """The prompt of each row, without padding."""
    return [row[:length] for row, length in zip(batch.tokens, batch.prompt_lengths.tolist(), strict=True)]


def pad_right(
    rows: Sequence[Int[np.ndarray, " _"]], *, device: torch.device | None = None
) -> tuple[Int[Tensor, "b t"], Int[Tensor, " b"]]:
    """Rows of different lengths as one tensor, padded with id 0, and their lengths."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    tokens = np.zeros((len(rows), int(lengths.max())), dtype=np.int64)
    for padded, row in zip(tokens, rows, strict=True):
        padded[: len(row)] = row
    return torch.from_numpy(tokens).to(device), torch.from_numpy(lengths).to(device)
