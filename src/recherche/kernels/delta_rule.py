"""The gated delta rule, compiled or in chunks of matrix products: a state that replaces what it holds under a key.

    S_t = a_t (I - b_t k_t k_t^T) S_{t-1} + b_t k_t v_t^T        y_t = S_t^T q_t        a_t = exp(log_decay_t)

On the CPU compiled loops do it token by token (`delta_recurrence`), save for large heads. Elsewhere, the products of
I - b k k^T within a chunk have the compact form of Householder reflections. With c the running sum of
log_decay, G_ij = exp(c_i - c_j) and B = diag(b),

    T  = (I + strictly lower part of B (K K^T * G))^(-1) B          one triangular solve
    V' = T V - T (exp(c) K) S                                        the values that are really written
    y  = (exp(c) Q) S + lower part of (Q K^T * G) V'
    S <- exp(c_last) S + (exp(c_last - c) K)^T V'

A token with b = 0 and log_decay = 0 leaves the state as it is: that is how padding is read.

Reference: Yang et al. (2024), DeltaNet, Section 3, https://arxiv.org/abs/2406.06484;
Yang, Kautz & Hatamizadeh (2025), Gated DeltaNet, Section 3.3, https://arxiv.org/abs/2412.06464
"""

import torch
from jaxtyping import Float
from torch import Tensor

from recherche.kernels.bridge import has_compiled_path
from recherche.kernels.decayed_attention import pairwise_decay
from recherche.kernels.delta_recurrence import delta_recurrence

_LARGEST_HEAD = 8192
"""Numbers in a head's state up to which compiled loops beat matrix products."""

_CHUNK = 32


def delta_rule(
    q: Float[Tensor, "b h t k"],
    k: Float[Tensor, "b h t k"],
    v: Float[Tensor, "b h t m"],
    gates: tuple[Float[Tensor, "b h t 1"], Float[Tensor, "b h t 1"]],
    state: Float[Tensor, "b h k m"],
) -> tuple[Float[Tensor, "b h t m"], Float[Tensor, "b h k m"]]:
    """Outputs of all tokens, and the state after the last.

    Args:
        gates: write strengths b, and log_decay, at most 0.
    """
    if has_compiled_path(q) and state[0, 0].numel() <= _LARGEST_HEAD:
        return delta_recurrence(q, k, v, (gates[0], gates[1].exp()), state)
    return in_chunks(q, k, v, gates, state)


def in_chunks(
    q: Float[Tensor, "b h t k"],
    k: Float[Tensor, "b h t k"],
    v: Float[Tensor, "b h t m"],
    gates: tuple[Float[Tensor, "b h t 1"], Float[Tensor, "b h t 1"]],
    state: Float[Tensor, "b h k m"],
) -> tuple[Float[Tensor, "b h t m"], Float[Tensor, "b h k m"]]:
    """The same in torch alone, as matrix products."""
    outputs = []
    for q_c, k_c, v_c, b_c, log_c in zip(*(x.split(_CHUNK, dim=2) for x in (q, k, v, *gates)), strict=True):
        total = log_c.cumsum(dim=2)
        decay = pairwise_decay(total)
        lower = torch.tril(b_c * (k_c @ k_c.mT) * decay, diagonal=-1)
        both = b_c * torch.cat([v_c, k_c * total.exp()], dim=-1)
        solved = torch.linalg.solve_triangular(lower, both, upper=False, unitriangular=True)
        written = solved[..., : v.shape[-1]] - solved[..., v.shape[-1] :] @ state
        outputs.append((q_c * total.exp()) @ state + ((q_c @ k_c.mT) * decay) @ written)
        rest = total[:, :, -1:] - total
        state = total[:, :, -1:].exp() * state + (k_c * rest.exp()).mT @ written
    return torch.cat(outputs, dim=2), state
