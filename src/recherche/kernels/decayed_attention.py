"""Linear attention with forgetting: the recurrence behind RetNet, GLA and Mamba-2, compiled or in chunks of products.

    S_t = diag(a_t) S_{t-1} + k_t v_t^T          y_t = S_t^T q_t          a_t = exp(log_decay_t), a number or one a row

On the CPU compiled loops do it token by token (`decayed_recurrence`), save for large heads with one decay each.
Elsewhere, within a chunk of tokens and with c_i the running sum of log_decay,

    y_i = sum_{j <= i} (q_i . exp(c_i - c_j) k_j) v_j + S^T (exp(c_i) q_i)
    S  <- exp(c_last) S + sum_j (exp(c_last - c_j) k_j) v_j^T

Only differences c_i - c_j <= 0 are exponentiated, so nothing overflows however strong the decay. A token with k = 0 and
log_decay = 0 leaves the state as it is: that is how padding is read.

Reference: Yang et al. (2024), Gated Linear Attention, Section 4, https://arxiv.org/abs/2312.06635;
Dao & Gu (2024), Mamba-2, Section 6, https://arxiv.org/abs/2405.21060
"""

import torch
from jaxtyping import Float
from torch import Tensor

from recherche.kernels.bridge import has_compiled_path
from recherche.kernels.decayed_recurrence import decayed_recurrence

_LARGEST_HEAD = 8192
"""Numbers in a head's state up to which compiled loops beat matrix products, where a head has one decay."""

_CHUNK = {"one decay a head": 32, "one decay a row": 16}


def decayed_attention(
    q: Float[Tensor, "b h t k"],
    k: Float[Tensor, "b h t k"],
    v: Float[Tensor, "b h t m"],
    log_decay: Float[Tensor, "b h t rows"],
    state: Float[Tensor, "b h k m"],
) -> tuple[Float[Tensor, "b h t m"], Float[Tensor, "b h k m"]]:
    """Outputs of all tokens, and the state after the last.

    Args:
        log_decay: at most 0; rows is 1 for one decay a head, or k for one a row of the state.
    """
    shared = log_decay.shape[-1] == 1
    if has_compiled_path(q) and (not shared or state[0, 0].numel() <= _LARGEST_HEAD):
        return decayed_recurrence(q, k, v, log_decay.exp(), state)
    return in_chunks(q, k, v, log_decay, state)


def in_chunks(
    q: Float[Tensor, "b h t k"],
    k: Float[Tensor, "b h t k"],
    v: Float[Tensor, "b h t m"],
    log_decay: Float[Tensor, "b h t rows"],
    state: Float[Tensor, "b h k m"],
) -> tuple[Float[Tensor, "b h t m"], Float[Tensor, "b h k m"]]:
    """The same in torch alone, as matrix products."""
    shared = log_decay.shape[-1] == 1
    chunk = _CHUNK["one decay a head" if shared else "one decay a row"]
    attend = _shared_scores if shared else _separate_scores
    outputs = []
    for q_c, k_c, v_c, log_c in zip(*(x.split(chunk, dim=2) for x in (q, k, v, log_decay)), strict=True):
        total = log_c.cumsum(dim=2)
        outputs.append(attend(q_c, k_c, total) @ v_c + (q_c * total.exp()) @ state)
        rest = total[:, :, -1:] - total
        state = total[:, :, -1, :, None].exp() * state + (k_c * rest.exp()).mT @ v_c
    return torch.cat(outputs, dim=2), state


def _shared_scores(
    q: Float[Tensor, "b h c k"], k: Float[Tensor, "b h c k"], total: Float[Tensor, "b h c 1"]
) -> Float[Tensor, "b h c c"]:
    return (q @ k.mT) * pairwise_decay(total)


def _separate_scores(
    q: Float[Tensor, "b h c k"], k: Float[Tensor, "b h c k"], total: Float[Tensor, "b h c k"]
) -> Float[Tensor, "b h c c"]:
    decay = (total[:, :, :, None] - total[:, :, None]).masked_fill(_future(total)[..., None], -torch.inf).exp()
    return torch.einsum("bhik,bhjk,bhijk->bhij", q, k, decay)


def pairwise_decay(total: Float[Tensor, "b h c 1"]) -> Float[Tensor, "b h c c"]:
    """exp(c_i - c_j) for j <= i, 0 for the future."""
    return (total - total.mT).masked_fill(_future(total), -torch.inf).exp()


def _future(total: Float[Tensor, "b h c rows"]) -> Tensor:
    c = total.shape[2]
    return torch.ones(c, c, dtype=torch.bool, device=total.device).triu(1)
