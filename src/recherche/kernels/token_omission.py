"""Which tokens TOVA keeps: slots for a fixed number of tokens, of which the one attended to least makes room.

The choice is a matter of counting, without gradient; what is attended to is then attention under a mask. So the text is
read in chunks: the scores of a chunk's queries against the slots and the chunk's own keys are one matrix product, the
choice goes through them token by token, and its result is a mask and the columns that end up in the slots.

    columns   0 .. w-1 the slots, w .. w+c-1 the tokens of the chunk
    held      the column in each slot, at first its own
    token i   sees what is held and column w + i, and unless it is padding takes the first empty slot; if there is none,
              the slot with the smallest mean of the softmax over the heads, or none if its own is the smallest

Reference: Oren et al. (2024), Transformers are Multi-State RNNs, Section 3.2, https://arxiv.org/abs/2401.06104
"""

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from recherche.kernels.bridge import array, has_compiled_path
from recherche.kernels.compiled import compiled


def kept_tokens(
    scores: Float[Tensor, "b h c s"], is_empty: Bool[Tensor, "b w"], is_padding: Bool[Tensor, "b c"]
) -> tuple[Bool[Tensor, "b c s"], Int64[Tensor, "b w"]]:
    """Which columns each token sees, and the column in each slot after the chunk.

    Args:
        scores: logits of all columns; those of unseen columns mean nothing.
        is_empty: slots that hold no token yet.
    """
    if not has_compiled_path(scores):
        return one_by_one(scores, is_empty, is_padding)
    b, _, c, s = scores.shape
    seen = torch.zeros(b, c, s, dtype=torch.bool)
    held = torch.empty(is_empty.shape, dtype=torch.int64)
    choose(array(scores), array(is_empty), array(is_padding), seen.numpy(), held.numpy())
    return seen, held


def one_by_one(
    scores: Float[Tensor, "b h c s"], is_empty: Bool[Tensor, "b w"], is_padding: Bool[Tensor, "b c"]
) -> tuple[Bool[Tensor, "b c s"], Int64[Tensor, "b w"]]:
    """The same in torch alone, all rows at once."""
    b, _, c, s = scores.shape
    w = is_empty.shape[1]
    held = torch.arange(w, device=scores.device).expand(b, w)
    seen = torch.zeros(b, c, s, dtype=torch.bool, device=scores.device)
    for i in range(c):
        own = torch.full((b, 1), w + i, device=scores.device)
        columns = torch.cat([held, own], dim=1)
        absent = torch.cat([is_empty, torch.zeros_like(own, dtype=torch.bool)], dim=1)
        seen[:, i].scatter_(1, columns, ~absent)
        logits = scores[:, :, i].gather(2, columns[:, None].expand(-1, scores.shape[1], -1))
        weights = logits.masked_fill(absent[:, None], -torch.inf).softmax(dim=-1)
        # Empty slots are taken first: nothing can be attended to less.
        dropped = weights.mean(dim=1).masked_fill(absent, -1.0).argmin(dim=1, keepdim=True)
        dropped = dropped.masked_fill(is_padding[:, i : i + 1], w)
        # The new token takes the dropped place; if it is dropped itself, it takes its own, which is cut off.
        held = columns.scatter(1, dropped, own)[:, :w]
        is_empty = absent.scatter(1, dropped, value=False)[:, :w]
    return seen, held


@compiled
def choose(
    scores: Float[np.ndarray, "b h c s"],
    is_empty: Bool[np.ndarray, "b w"],
    is_padding: Bool[np.ndarray, "b c"],
    seen: Bool[np.ndarray, "b c s"],
    held: Int64[np.ndarray, "b w"],
) -> None:
    """Fill `seen`, which is False everywhere, and `held`."""
    n_rows, n_heads, n_tokens, _ = scores.shape
    w = is_empty.shape[1]
    weights, total = np.empty(w + 1), np.empty(w + 1)
    for row in range(n_rows):
        empty = is_empty[row].copy()
        columns = np.arange(w + 1)
        for i in range(n_tokens):
            columns[w] = w + i
            seen[row, i, w + i] = True
            place = -1
            for slot in range(w - 1, -1, -1):
                if empty[slot]:
                    place = slot
                else:
                    seen[row, i, columns[slot]] = True
            if is_padding[row, i]:
                continue
            if place < 0:
                total[:] = 0.0
                for head in range(n_heads):
                    highest = -np.inf
                    for j in range(w + 1):
                        weights[j] = scores[row, head, i, columns[j]]
                        highest = max(highest, weights[j])
                    whole = 0.0
                    for j in range(w + 1):
                        weights[j] = np.exp(weights[j] - highest)
                        whole += weights[j]
                    for j in range(w + 1):
                        total[j] += weights[j] / whole
                place = int(np.argmin(total))
            if place < w:
                columns[place] = w + i
                empty[place] = False
        held[row] = columns[:w]
