"""Targets stand one place before the token they name, and only where the model must produce it."""

import numpy as np
import torch

from recherche.batching import IGNORE_INDEX, pad_right, prompts_of, to_tensors
from recherche.tasks.base import Batch


def batch_of(*, width: int = 7) -> Batch:
    """Two rows: prompt 10 11, own token 20, retrieved 30, answer 40; and prompt 10, answer 41."""
    tokens = np.zeros((2, width), dtype=np.int64)
    tokens[0, :5] = [10, 11, 20, 30, 40]
    tokens[1, :2] = [10, 41]
    mask = np.zeros((2, width), dtype=bool)
    mask[0, [2, 4]] = True
    mask[1, 1] = True
    return Batch(
        tokens=tokens,
        loss_mask=mask,
        prompt_lengths=np.array([2, 1]),
        lengths=np.array([5, 2]),
        answers=np.array([40, 41]),
        keys=np.array([1, 2], dtype=np.uint64),
    )


def test_targets_are_the_next_tokens_that_the_model_must_produce() -> None:
    inputs, targets = to_tensors(batch_of())
    assert inputs.tolist() == [[10, 11, 20, 30], [10, 41, 0, 0]]
    assert targets.tolist() == [[IGNORE_INDEX, 20, IGNORE_INDEX, 40], [41, IGNORE_INDEX, IGNORE_INDEX, IGNORE_INDEX]]


def test_padding_beyond_the_longest_row_is_cut() -> None:
    assert all(
        torch.equal(a, b) for a, b in zip(to_tensors(batch_of(width=5)), to_tensors(batch_of(width=9)), strict=True)
    )


def test_ignored_targets_do_not_change_a_loss() -> None:
    _, targets = to_tensors(batch_of())
    logits = torch.randn(2, 4, 50, generator=torch.Generator().manual_seed(0))
    scored = targets != IGNORE_INDEX
    expected = torch.nn.functional.cross_entropy(logits[scored], targets[scored])
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE_INDEX)
    torch.testing.assert_close(loss, expected)


def test_prompts_come_without_padding() -> None:
    assert [prompt.tolist() for prompt in prompts_of(batch_of())] == [[10, 11], [10]]


def test_rows_are_padded_on_the_right_with_zero() -> None:
    tokens, lengths = pad_right([np.array([5, 6, 7]), np.array([8])])
    assert tokens.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert lengths.tolist() == [3, 1]
