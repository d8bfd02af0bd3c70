"""The loss of lessons: over what the model writes itself, each lesson counting alike.

    loss = mean over lessons of the mean over their written tokens x_t of -log p(x_t | x_<t)

In a direct answer p is conditioned on no search being begun there, which is how direct answers are asked for
afterwards: one model learns both, and neither protocol takes probability from the other.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from recherche.lm.lesson_mixture import IGNORED, collate
from recherche.lm.lessons import Lesson

Read = Callable[[Int[Tensor, "b t"]], Float[Tensor, "b t v"]]
"""Tokens to the logits after each."""


def lesson_loss(
    logits: Float[Tensor, "b t v"], labels: Int[Tensor, "b t"], may_search: Bool[Tensor, " b"], *, start: int
) -> Float[Tensor, ""]:
    """The loss of a batch.

    Args:
        labels: the tokens, or -100 where the model need not write them.
        may_search: False for direct answers.
        start: the token that begins a search.
    """
    rows, losses = _losses(logits, labels, may_search, start)
    sums = torch.zeros(len(labels), device=logits.device).index_add(0, rows, losses)
    return (sums / rows.bincount(minlength=len(labels)).clamp(min=1)).mean()


@torch.no_grad()
def prose_loss(read: Read, lessons: Sequence[Lesson], *, batch_size: int, device: torch.device) -> float:
    """Mean loss of a token of prose, in nats."""
    total, count = 0.0, 0
    for begin in range(0, len(lessons), batch_size):
        batch = collate([*lessons[begin : begin + batch_size]])
        ids, labels = batch["input_ids"].to(device), batch["labels"].to(device)
        _, losses = _losses(read(ids), labels, batch["may_search"].to(device), 0)
        total, count = total + float(losses.double().sum()), count + losses.numel()
    return total / count


def _losses(
    logits: Float[Tensor, "b t v"], labels: Int[Tensor, "b t"], may_search: Bool[Tensor, " b"], start: int
) -> tuple[Int[Tensor, " m"], Float[Tensor, " m"]]:
    """The row and the loss of each token that must be written; the first token of a text cannot be."""
    labels = labels[:, 1:]
    rows, columns = (labels != IGNORED).nonzero(as_tuple=True)
    chosen = logits[rows, columns].float()
    excluded = torch.zeros_like(chosen, dtype=torch.bool)
    excluded[:, start] = ~may_search[rows]
    return rows, cross_entropy(chosen.masked_fill(excluded, -torch.inf), labels[rows, columns], reduction="none")
