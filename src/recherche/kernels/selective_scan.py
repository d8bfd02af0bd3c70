"""The selective scan of Mamba, compiled for the CPU, forward and backward, with its step size and its gate.

    dt_t = softplus(r_t + bias)                       e channels; r_t is what the low-rank projection gives
    h_t  = 2^(dt_t A) h_{t-1} + (dt_t u_t) B_t        e x n; A comes multiplied by log2(e)
    y_t  = (C_t . h_t + D u_t) z_t sigmoid(z_t)

Memory is linear in tokens: forward keeps h at the start of every chunk, backward recomputes the history of one chunk at
a time in scratch that belongs to the thread. Work is split over (row, block of channels). All inner loops run over
contiguous channels and touch few arrays each, for the compiler gives up on a loop whose arrays it cannot tell apart.

Backward, from the last token to the first, with g_t = dL/dy_t z_t sigmoid(z_t) and dh = dL/dh_t:

    dh += g_t C_t;   dC_t = g_t . h_t;   dB_t = dh . (dt u)_t;   d(dt u)_t = dh . B_t
    q   = dh h_{t-1} 2^(dt A);   dA += q dt_t;   ddt_t += q . A;   dh <- 2^(dt A) dh

Reference: Gu & Dao (2023), Mamba, Algorithm 2, https://arxiv.org/abs/2312.00752
"""

import math

import numpy as np
from jaxtyping import Float, Int

from recherche.kernels.compiled import compiled_vectors
from recherche.kernels.vector_math import exp2_nonpositive, like, sigmoid, softplus

BLOCK = 64
"""Channels that one task carries; its decay, state and gradients stay in the first-level cache."""

CHUNK = 16
"""Tokens between two states kept for backward."""

_LN_2 = math.log(2)


@compiled_vectors
def scan_forward(
    thread: int,
    num_threads: int,
    tokens: tuple[
        Float[np.ndarray, "b t e"], Float[np.ndarray, "b t e"], Float[np.ndarray, "b t c"], Float[np.ndarray, "b t m"]
    ],
    weights: tuple[Float[np.ndarray, "n e"], Float[np.ndarray, " e"], Float[np.ndarray, " e"]],
    start: Float[np.ndarray, "b e n"],
    lengths: Int[np.ndarray, " b"],
    chunk: int,
    outputs: tuple[Float[np.ndarray, "b t e"], Float[np.ndarray, "b chunks n e"], Float[np.ndarray, "b e n"]],
) -> None:
    """Write y, the states at chunk starts, and the last state of each row.

    Args:
        tokens: u; r; an array whose last e channels are z; one whose last 2n channels are B and C.
        weights: A log2(e), D, bias.
        outputs: y, zero at padding; states at chunk starts; last states.
    """
    u, r, xz, xbc = tokens
    A, D, bias = weights
    y, checkpoints, last = outputs
    b, t, e = u.shape
    n = A.shape[0]
    z_at, B_at, C_at = xz.shape[2] - e, xbc.shape[2] - 2 * n, xbc.shape[2] - n
    num_blocks = (e + BLOCK - 1) // BLOCK
    decay = np.empty(BLOCK, dtype=u.dtype)
    h = np.empty((2, n, BLOCK), dtype=u.dtype)
    dt = np.empty(BLOCK, dtype=u.dtype)
    dtu = np.empty(BLOCK, dtype=u.dtype)
    out = np.empty(BLOCK, dtype=u.dtype)
    for task in range(thread * b * num_blocks // num_threads, (thread + 1) * b * num_blocks // num_threads):
        row, lo = task // num_blocks, task % num_blocks * BLOCK
        width = min(BLOCK, e - lo)
        for k in range(n):
            for j in range(width):
                h[0, k, j] = start[row, lo + j, k]
        for i in range(lengths[row]):
            old, new = i % 2, (i + 1) % 2
            if i % chunk == 0:
                for k in range(n):
                    for j in range(width):
                        checkpoints[row, i // chunk, k, lo + j] = h[old, k, j]
            for j in range(width):
                dt[j] = softplus(r[row, i, lo + j] + bias[lo + j])
            for j in range(width):
                dtu[j] = dt[j] * u[row, i, lo + j]
                out[j] = D[lo + j] * u[row, i, lo + j]
            for k in range(n):
                B, C = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
                for j in range(width):
                    decay[j] = exp2_nonpositive(dt[j] * A[k, lo + j])
                for j in range(width):
                    h[new, k, j] = decay[j] * h[old, k, j] + dtu[j] * B
                for j in range(width):
                    out[j] += C * h[new, k, j]
            for j in range(width):
                z = xz[row, i, z_at + lo + j]
                y[row, i, lo + j] = out[j] * z * sigmoid(z)
        for i in range(lengths[row], t):
            for j in range(width):
                y[row, i, lo + j] = 0
        for k in range(n):
            for j in range(width):
                last[row, lo + j, k] = h[lengths[row] % 2, k, j]


@compiled_vectors
def scan_backward(
    thread: int,
    num_threads: int,
    grads_in: tuple[Float[np.ndarray, "b t e"], Float[np.ndarray, "b e n"]],
    tokens: tuple[
        Float[np.ndarray, "b t e"], Float[np.ndarray, "b t e"], Float[np.ndarray, "b t c"], Float[np.ndarray, "b t m"]
    ],
    weights: tuple[Float[np.ndarray, "n e"], Float[np.ndarray, " e"], Float[np.ndarray, " e"]],
    checkpoints: Float[np.ndarray, "b chunks n e"],
    lengths: Int[np.ndarray, " b"],
    grads_tokens: tuple[
        Float[np.ndarray, "b t e"],
        Float[np.ndarray, "b t e"],
        Float[np.ndarray, "b t c"],
        Float[np.ndarray, "blocks b t 2*n"],
    ],
    grads_weights: tuple[
        Float[np.ndarray, "threads n e"], Float[np.ndarray, "threads e"], Float[np.ndarray, "threads e"]
    ],
    grad_start: Float[np.ndarray, "b e n"],
) -> None:
    """Write the gradients of everything that `scan_forward` read, made with chunks of `CHUNK` tokens.

    Args:
        grads_in: those of y and of the last states.
        grads_tokens: of u, r, z (last e channels), and of B and C one partial sum for each block of channels.
        grads_weights: of A (not multiplied), D, bias: one partial sum for each thread.
    """
    grad_y, grad_last = grads_in
    u, r, xz, xbc = tokens
    A, D, bias = weights
    grad_u, grad_r, grad_xz, grad_bc = grads_tokens
    grad_A, grad_D, grad_bias = grads_weights
    b, t, e = u.shape
    n = A.shape[0]
    z_at, B_at, C_at = xz.shape[2] - e, xbc.shape[2] - 2 * n, xbc.shape[2] - n
    num_blocks = (e + BLOCK - 1) // BLOCK
    ln_2 = like(_LN_2, D[0])
    one = like(1.0, D[0])
    decay = np.empty((CHUNK, n, BLOCK), dtype=u.dtype)
    h = np.empty((CHUNK + 1, n, BLOCK), dtype=u.dtype)
    dt = np.empty((CHUNK, BLOCK), dtype=u.dtype)
    dtu = np.empty((CHUNK, BLOCK), dtype=u.dtype)
    out = np.empty((CHUNK, BLOCK), dtype=u.dtype)
    grad_h = np.empty((n, BLOCK), dtype=u.dtype)
    g = np.empty(BLOCK, dtype=u.dtype)
    q = np.empty(BLOCK, dtype=u.dtype)
    grad_dt = np.empty(BLOCK, dtype=u.dtype)
    grad_dtu = np.empty(BLOCK, dtype=u.dtype)
    grad_A[thread] = 0
    grad_D[thread] = 0
    grad_bias[thread] = 0
    for task in range(thread * b * num_blocks // num_threads, (thread + 1) * b * num_blocks // num_threads):
        row, block = task // num_blocks, task % num_blocks
        lo = block * BLOCK
        width = min(BLOCK, e - lo)
        length = lengths[row]
        for k in range(n):
            for j in range(width):
                grad_h[k, j] = grad_last[row, lo + j, k]
        for i in range(length, t):
            for j in range(width):
                grad_u[row, i, lo + j] = 0
                grad_r[row, i, lo + j] = 0
                grad_xz[row, i, z_at + lo + j] = 0
            for k in range(2 * n):
                grad_bc[block, row, i, k] = 0
        for c in range((length + CHUNK - 1) // CHUNK - 1, -1, -1):
            first = c * CHUNK
            size = min(CHUNK, length - first)
            # The history of this chunk.
            for k in range(n):
                for j in range(width):
                    h[0, k, j] = checkpoints[row, c, k, lo + j]
            for s in range(size):
                i = first + s
                for j in range(width):
                    dt[s, j] = softplus(r[row, i, lo + j] + bias[lo + j])
                for j in range(width):
                    dtu[s, j] = dt[s, j] * u[row, i, lo + j]
                    out[s, j] = D[lo + j] * u[row, i, lo + j]
                for k in range(n):
                    B, C = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
                    for j in range(width):
                        decay[s, k, j] = exp2_nonpositive(dt[s, j] * A[k, lo + j])
                    for j in range(width):
                        h[s + 1, k, j] = decay[s, k, j] * h[s, k, j] + dtu[s, j] * B
                    for j in range(width):
                        out[s, j] += C * h[s + 1, k, j]
            # Its gradients, last token first.
            for s in range(size - 1, -1, -1):
                i = first + s
                for j in range(width):
                    z = xz[row, i, z_at + lo + j]
                    gate = sigmoid(z)
                    grad_xz[row, i, z_at + lo + j] = (
                        grad_y[row, i, lo + j] * out[s, j] * gate * (one + z * (one - gate))
                    )
                    g[j] = grad_y[row, i, lo + j] * z * gate
                for j in range(width):
                    grad_dt[j] = 0
                    grad_dtu[j] = 0
                for k in range(n):
                    B, C = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
                    sum_B = like(0.0, B)
                    sum_C = like(0.0, C)
                    for j in range(width):
                        grad_h[k, j] += g[j] * C
                        sum_C += g[j] * h[s + 1, k, j]
                        sum_B += grad_h[k, j] * dtu[s, j]
                    grad_bc[block, row, i, k] = sum_B
                    grad_bc[block, row, i, n + k] = sum_C
                    for j in range(width):
                        q[j] = grad_h[k, j] * h[s, k, j] * decay[s, k, j]
                    for j in range(width):
                        grad_dtu[j] += grad_h[k, j] * B
                        grad_h[k, j] *= decay[s, k, j]
                    for j in range(width):
                        grad_dt[j] += q[j] * A[k, lo + j]
                        grad_A[thread, k, lo + j] += q[j] * dt[s, j]
                for j in range(width):
                    grad_u[row, i, lo + j] = grad_dtu[j] * dt[s, j] + g[j] * D[lo + j]
                for j in range(width):
                    grad_D[thread, lo + j] += g[j] * u[row, i, lo + j]
                for j in range(width):
                    q[j] = (grad_dtu[j] * u[row, i, lo + j] + ln_2 * grad_dt[j]) * sigmoid(
                        r[row, i, lo + j] + bias[lo + j]
                    )
                for j in range(width):
                    grad_r[row, i, lo + j] = q[j]
                    grad_bias[thread, lo + j] += q[j]
        for k in range(n):
            for j in range(width):
                grad_start[row, lo + j, k] = grad_h[k, j]
