"""The gated delta rule, token by token in compiled loops, forward and backward.

    p_t = k_t^T a_t S_{t-1}        what is held under the key
    u_t = b_t (v_t - p_t)          what is written
    S_t = a_t S_{t-1} + k_t u_t^T        y_t = S_t^T q_t

As in `decayed_recurrence`, forward keeps S at the start of every chunk and backward recomputes the states of one chunk
at a time. Backward, from the last token to the first, with g_t = dL/dy_t and G = dL/dS_t:

    G += q_t g_t^T;   dq_t = S_t g_t;   du = G^T k_t;   db_t = du . (v_t - p_t);   dv_t = b_t du
    dk_t = G u_t - a_t S_{t-1} dv_t;    G -= k_t dv_t^T;   da_t = sum of G * S_{t-1};   G <- a_t G

Reference: Yang, Kautz & Hatamizadeh (2025), Gated DeltaNet, Section 3.1, https://arxiv.org/abs/2412.06464
"""

import numpy as np
from jaxtyping import Float
from torch import Tensor

from recherche.kernels.compiled import compiled_vectors, inlined_vectors
from recherche.kernels.matrix_recurrence import CHUNK, matrix_recurrence

Tokens = tuple[
    Float[np.ndarray, "b t h k"],
    Float[np.ndarray, "b t h k"],
    Float[np.ndarray, "b t h m"],
    Float[np.ndarray, "b t h 1"],
    Float[np.ndarray, "b t h 1"],
]
"""q, k, v, write strength, decay."""


def delta_recurrence(
    q: Float[Tensor, "b h t k"],
    k: Float[Tensor, "b h t k"],
    v: Float[Tensor, "b h t m"],
    gates: tuple[Float[Tensor, "b h t 1"], Float[Tensor, "b h t 1"]],
    state: Float[Tensor, "b h k m"],
) -> tuple[Float[Tensor, "b h t m"], Float[Tensor, "b h k m"]]:
    """Outputs of all tokens, and the state after the last; on the CPU.

    Args:
        gates: write strengths, and decays themselves.
    """
    return matrix_recurrence((delta_forward, delta_backward), (q, k, v, *gates), state)


@compiled_vectors
def delta_forward(
    thread: int,
    num_threads: int,
    tokens: Tokens,
    start: Float[np.ndarray, "b h k m"],
    chunk: int,
    outputs: tuple[Float[np.ndarray, "b t h m"], Float[np.ndarray, "b h chunks k m"], Float[np.ndarray, "b h k m"]],
) -> None:
    """Write y, the states at chunk starts, and the last states, for the thread's share of rows and heads."""
    q, k, v, strength, decay = tokens
    y, kept, last = outputs
    b, t, h, m = v.shape
    n = q.shape[3]
    state = np.empty((n, m), dtype=v.dtype)
    held, out = np.empty(m, dtype=v.dtype), np.empty(m, dtype=v.dtype)
    for task in range(thread * b * h // num_threads, (thread + 1) * b * h // num_threads):
        row, head = task // h, task % h
        state[:] = start[row, head]
        for i in range(t):
            if i % chunk == 0:
                kept[row, head, i // chunk] = state
            a = decay[row, i, head, 0]
            held[:] = 0
            out[:] = 0
            for c in range(n):
                key = k[row, i, head, c]
                for j in range(m):
                    before = a * state[c, j]
                    state[c, j] = before
                    held[j] += key * before
            for j in range(m):
                held[j] = strength[row, i, head, 0] * (v[row, i, head, j] - held[j])
            for c in range(n):
                key, query = k[row, i, head, c], q[row, i, head, c]
                for j in range(m):
                    after = state[c, j] + key * held[j]
                    state[c, j] = after
                    out[j] += query * after
            for j in range(m):
                y[row, i, head, j] = out[j]
        last[row, head] = state


@compiled_vectors
def delta_backward(
    thread: int,
    num_threads: int,
    tokens: Tokens,
    kept: Float[np.ndarray, "b h chunks k m"],
    grads_in: tuple[Float[np.ndarray, "b t h m"], Float[np.ndarray, "b h k m"]],
    grads_out: tuple[Tokens, Float[np.ndarray, "b h k m"]],
) -> None:
    """Write the gradients of everything that `delta_forward` read, if its chunk was `CHUNK`."""
    k, v, strength, decay = tokens[1:]
    b, t, h, m = v.shape
    n = k.shape[3]
    states = np.empty((CHUNK + 1, n, m), dtype=v.dtype)
    missing = np.empty((CHUNK, m), dtype=v.dtype)
    carried = np.empty((n, m), dtype=v.dtype)
    work = np.empty((3, m), dtype=v.dtype)
    for task in range(thread * b * h // num_threads, (thread + 1) * b * h // num_threads):
        row, head = task // h, task % h
        carried[:] = grads_in[1][row, head]
        for block in range((t - 1) // CHUNK, -1, -1):
            first, size = block * CHUNK, min(CHUNK, t - block * CHUNK)
            states[0] = kept[row, head, block]
            for s in range(size):
                i = first + s
                a, write = decay[row, i, head, 0], strength[row, i, head, 0]
                work[0] = 0
                for c in range(n):
                    key = a * k[row, i, head, c]
                    for j in range(m):
                        work[0, j] += key * states[s, c, j]
                for j in range(m):
                    missing[s, j] = v[row, i, head, j] - work[0, j]
                for c in range(n):
                    key = write * k[row, i, head, c]
                    for j in range(m):
                        states[s + 1, c, j] = a * states[s, c, j] + key * missing[s, j]
            for s in range(size - 1, -1, -1):
                place = (row, first + s, head, s)
                _token_gradients(place, tokens, (states, missing), (grads_in[0], carried, work), grads_out[0])
        grads_out[1][row, head] = carried


@inlined_vectors
def _token_gradients(
    place: tuple[int, int, int, int],
    tokens: Tokens,
    history: tuple[Float[np.ndarray, "chunk_and_one k m"], Float[np.ndarray, "chunk m"]],
    grads: tuple[Float[np.ndarray, "b t h m"], Float[np.ndarray, "k m"], Float[np.ndarray, "3 m"]],
    grads_out: Tokens,
) -> None:
    """Write the gradients at one token, and carry `grads[1]`, that of the state, to the token before.

    Args:
        place: row, token, head, token within its chunk.
        history: states of the chunk, the one before it first; v - p of its tokens.
        grads: that of y; that of the state; scratch for g, du and dv.
    """
    row, i, head, s = place
    q, k, _, strength, decay = tokens
    states, missing = history
    grad_y, carried, work = grads
    grad_q, grad_k, grad_v, grad_strength, grad_decay = grads_out
    n, m = carried.shape
    a, write = decay[row, i, head, 0], strength[row, i, head, 0]
    for j in range(m):
        work[0, j] = grad_y[row, i, head, j]
    work[1] = 0
    for c in range(n):
        key, query = k[row, i, head, c], q[row, i, head, c]
        by_query, by_key = a * 0, a * 0
        for j in range(m):
            grad = carried[c, j] + query * work[0, j]
            carried[c, j] = grad
            work[1, j] += key * grad
            by_query += states[s + 1, c, j] * work[0, j]
            by_key += grad * missing[s, j]
        grad_q[row, i, head, c] = by_query
        grad_k[row, i, head, c] = write * by_key
    by_write, by_decay = a * 0, a * 0
    for j in range(m):
        by_write += work[1, j] * missing[s, j]
        work[2, j] = write * work[1, j]
    for j in range(m):
        grad_v[row, i, head, j] = work[2, j]
    for c in range(n):
        key, by_key = k[row, i, head, c], a * 0
        for j in range(m):
            grad = carried[c, j] - key * work[2, j]
            by_key += states[s, c, j] * work[2, j]
            by_decay += grad * states[s, c, j]
            carried[c, j] = a * grad
        grad_k[row, i, head, c] -= a * by_key
    grad_strength[row, i, head, 0] = by_write
    grad_decay[row, i, head, 0] = by_decay
