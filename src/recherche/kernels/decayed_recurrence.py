"""Linear attention with forgetting, token by token in compiled loops, forward and backward.

    S_t = a_t S_{t-1} + k_t v_t^T          y_t = S_t^T q_t          a_t a number, or one for each row of S

A head's state fits the first-level cache, so the recurrence itself is the fastest form for small heads: nothing is
exponentiated in pairs, and no matrix of tokens by tokens is written. Memory is linear in tokens: forward keeps S at the
start of every chunk, backward recomputes the states of one chunk at a time. Backward, from the last token to the first,
with g_t = dL/dy_t and G = dL/dS_t:

    G += q_t g_t^T;   dq_t = S_t g_t;   dk_t = G v_t;   dv_t = G^T k_t;   da_t = sum of G * S_{t-1};   G <- a_t G

Reference: Yang et al. (2024), Gated Linear Attention, Section 2, https://arxiv.org/abs/2312.06635
"""

import numpy as np
from jaxtyping import Float
from torch import Tensor

from recherche.kernels.compiled import compiled_vectors
from recherche.kernels.matrix_recurrence import CHUNK, matrix_recurrence

Tokens = tuple[
    Float[np.ndarray, "b t h k"],
    Float[np.ndarray, "b t h k"],
    Float[np.ndarray, "b t h m"],
    Float[np.ndarray, "b t h rows"],
]
"""q, k, v, decay."""


def decayed_recurrence(
    q: Float[Tensor, "b h t k"],
    k: Float[Tensor, "b h t k"],
    v: Float[Tensor, "b h t m"],
    decay: Float[Tensor, "b h t rows"],
    state: Float[Tensor, "b h k m"],
) -> tuple[Float[Tensor, "b h t m"], Float[Tensor, "b h k m"]]:
    """Outputs of all tokens, and the state after the last; on the CPU."""
    return matrix_recurrence((recur_forward, recur_backward), (q, k, v, decay), state)


@compiled_vectors
def recur_forward(
    thread: int,
    num_threads: int,
    tokens: Tokens,
    start: Float[np.ndarray, "b h k m"],
    chunk: int,
    outputs: tuple[Float[np.ndarray, "b t h m"], Float[np.ndarray, "b h chunks k m"], Float[np.ndarray, "b h k m"]],
) -> None:
    """Write y, the states at chunk starts, and the last states, for the thread's share of rows and heads."""
    q, k, v, decay = tokens
    y, kept, last = outputs
    b, t, h, m = v.shape
    n, per_row = q.shape[3], int(decay.shape[3] > 1)
    state = np.empty((n, m), dtype=v.dtype)
    value, out = np.empty(m, dtype=v.dtype), np.empty(m, dtype=v.dtype)
    for task in range(thread * b * h // num_threads, (thread + 1) * b * h // num_threads):
        row, head = task // h, task % h
        state[:] = start[row, head]
        for i in range(t):
            if i % chunk == 0:
                kept[row, head, i // chunk] = state
            for j in range(m):
                value[j] = v[row, i, head, j]
            for j in range(m):
                out[j] = 0
            for c in range(n):
                a, key, query = decay[row, i, head, c * per_row], k[row, i, head, c], q[row, i, head, c]
                for j in range(m):
                    after = a * state[c, j] + key * value[j]
                    state[c, j] = after
                    out[j] += query * after
            for j in range(m):
                y[row, i, head, j] = out[j]
        last[row, head] = state


@compiled_vectors
def recur_backward(
    thread: int,
    num_threads: int,
    tokens: Tokens,
    kept: Float[np.ndarray, "b h chunks k m"],
    grads_in: tuple[Float[np.ndarray, "b t h m"], Float[np.ndarray, "b h k m"]],
    grads_out: tuple[Tokens, Float[np.ndarray, "b h k m"]],
) -> None:
    """Write the gradients of everything that `recur_forward` read, if its chunk was `CHUNK`."""
    q, k, v, decay = tokens
    (grad_q, grad_k, grad_v, grad_decay), grad_start = grads_out
    b, t, h, m = v.shape
    n, per_row = q.shape[3], int(decay.shape[3] > 1)
    states = np.empty((CHUNK + 1, n, m), dtype=v.dtype)
    carried = np.empty((n, m), dtype=v.dtype)
    work = np.empty((3, m), dtype=v.dtype)  # value; gradient of the output; that of the value
    for task in range(thread * b * h // num_threads, (thread + 1) * b * h // num_threads):
        row, head = task // h, task % h
        carried[:] = grads_in[1][row, head]
        for block in range((t - 1) // CHUNK, -1, -1):
            first, size = block * CHUNK, min(CHUNK, t - block * CHUNK)
            states[0] = kept[row, head, block]
            for s in range(size):
                for j in range(m):
                    work[0, j] = v[row, first + s, head, j]
                for c in range(n):
                    a, key = decay[row, first + s, head, c * per_row], k[row, first + s, head, c]
                    for j in range(m):
                        states[s + 1, c, j] = a * states[s, c, j] + key * work[0, j]
            for s in range(size - 1, -1, -1):
                i = first + s
                for j in range(m):
                    work[0, j] = v[row, i, head, j]
                for j in range(m):
                    work[1, j] = grads_in[0][row, i, head, j]
                for j in range(m):
                    work[2, j] = 0
                grad_decay[row, i, head] = 0
                for c in range(n):
                    a, key, query = decay[row, i, head, c * per_row], k[row, i, head, c], q[row, i, head, c]
                    by_query, by_key, by_decay = a * 0, a * 0, a * 0
                    for j in range(m):
                        grad = carried[c, j] + query * work[1, j]
                        by_query += states[s + 1, c, j] * work[1, j]
                        by_key += grad * work[0, j]
                        by_decay += grad * states[s, c, j]
                        work[2, j] += key * grad
                        carried[c, j] = a * grad
                    grad_q[row, i, head, c] = by_query
                    grad_k[row, i, head, c] = by_key
                    grad_decay[row, i, head, c * per_row] += by_decay
                for j in range(m):
                    grad_v[row, i, head, j] = work[2, j]
        grad_start[row, head] = carried
