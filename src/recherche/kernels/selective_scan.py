"""The selective scan of Mamba, compiled for the CPU, forward and backward, with its step size and its gate.

    dt_t = softplus(r_t + bias)                       e channels; r_t is what the low-rank projection gives
    h_t  = 2^(dt_t A) h_{t-1} + (dt_t u_t) B_t        e x n; A comes multiplied by log2(e)
    y_t  = (C_t . h_t + D u_t) z_t sigmoid(z_t)

Memory is linear in tokens: forward keeps h at the start of every chunk, backward recomputes the history of one chunk
at a time in scratch that belongs to the thread. Channels come in blocks of `width`; a kernel does the share of
(row, block) tasks of one thread. All inner loops run over contiguous channels, with an index that plainly starts at 0,
and touch few arrays each: the compiler gives up on a loop whose arrays it cannot tell apart by eight comparisons.

Backward, from the last token to the first, with g_t = dL/dy_t z_t sigmoid(z_t) and dh = dL/dh_t:

    dh += g_t C_t;   dC_t = g_t . h_t;   dB_t = dh . (dt u)_t;   d(dt u)_t = dh . B_t
    q   = dh h_{t-1} 2^(dt A);   dA += q dt_t;   ddt_t += q . A;   dh <- 2^(dt A) dh

Reference: Gu & Dao (2023), Mamba, Algorithm 2, https://arxiv.org/abs/2312.00752
"""

import math

import numpy as np
from jaxtyping import Float, Int

from recherche.kernels.compiled import compiled_vectors, inlined_vectors
from recherche.kernels.vector_math import exp2_nonpositive, like, sigmoid, softplus

CHUNK = 8
"""Tokens between two states kept for backward: its scratch then fits the second-level cache."""

_LARGEST_WIDTH = 128
_LN_2 = math.log(2)

Tokens = tuple[
    Float[np.ndarray, "b t blocks width"],
    Float[np.ndarray, "b t blocks width"],
    Float[np.ndarray, "b t some_blocks width"],
    Float[np.ndarray, "b t m"],
]
"""u; r; an array whose last blocks are z; one whose last 2n numbers of a token are B and C."""

Weights = tuple[
    Float[np.ndarray, "n blocks width"], Float[np.ndarray, "blocks width"], Float[np.ndarray, "blocks width"]
]
"""A log2(e), D, bias."""

Place = tuple[int, int, int, int]
"""Row, token, block of channels, token within its chunk."""

History = tuple[
    Float[np.ndarray, "chunk n width"], Float[np.ndarray, "chunk_and_one n width"], Float[np.ndarray, "3 chunk width"]
]
"""Of one chunk: decay; states, the one before it first; dt, dt u and the ungated output."""


def block_width(num_channels: int) -> int:
    """Channels of a block: the largest divisor that the first-level cache can serve, else all of them.

    >>> block_width(128), block_width(1536), block_width(130), block_width(131)
    (128, 128, 65, 131)
    """
    widths = [w for w in range(_LARGEST_WIDTH // 4, _LARGEST_WIDTH + 1) if num_channels % w == 0]
    return max(widths, default=num_channels)


@compiled_vectors
def scan_forward(
    thread: int,
    num_threads: int,
    tokens: Tokens,
    weights: Weights,
    start: tuple[Float[np.ndarray, "b blocks width n"], Int[np.ndarray, " b"]],
    chunk: int,
    outputs: tuple[
        Float[np.ndarray, "b t blocks width"],
        Float[np.ndarray, "b chunks n blocks width"],
        Float[np.ndarray, "b blocks width n"],
    ],
) -> None:
    """Write y, the states at chunk starts, and the last state of each row.

    Args:
        start: first states, and the number of real tokens of each row.
        outputs: y, zero at padding; states at chunk starts; last states.
    """
    u, r, xz, xbc = tokens
    A, D, bias = weights
    y, checkpoints, last = outputs
    b, t, blocks, width = u.shape
    n = A.shape[0]
    z_at, B_at, C_at = xz.shape[2] - blocks, xbc.shape[2] - 2 * n, xbc.shape[2] - n
    h = np.empty((n, width), dtype=u.dtype)
    dt = np.empty(width, dtype=u.dtype)
    dtu = np.empty(width, dtype=u.dtype)
    out = np.empty(width, dtype=u.dtype)
    for task in range(thread * b * blocks // num_threads, (thread + 1) * b * blocks // num_threads):
        row, block = task // blocks, task % blocks
        length = start[1][row]
        for k in range(n):
            for j in range(width):
                h[k, j] = start[0][row, block, j, k]
        for i in range(length):
            if i % chunk == 0:
                for k in range(n):
                    for j in range(width):
                        checkpoints[row, i // chunk, k, block, j] = h[k, j]
            for j in range(width):
                dt[j] = softplus(r[row, i, block, j] + bias[block, j])
            for j in range(width):
                dtu[j] = dt[j] * u[row, i, block, j]
                out[j] = D[block, j] * u[row, i, block, j]
            for k in range(n):
                B, C = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
                for j in range(width):
                    after = exp2_nonpositive(dt[j] * A[k, block, j]) * h[k, j] + dtu[j] * B
                    h[k, j] = after
                    out[j] += C * after
            for j in range(width):
                z = xz[row, i, z_at + block, j]
                y[row, i, block, j] = out[j] * z * sigmoid(z)
        for i in range(length, t):
            for j in range(width):
                y[row, i, block, j] = 0
        for k in range(n):
            for j in range(width):
                last[row, block, j, k] = h[k, j]


@compiled_vectors
def scan_backward(
    thread: int,
    num_threads: int,
    tokens: Tokens,
    weights: Weights,
    saved: tuple[Float[np.ndarray, "b chunks n blocks width"], Int[np.ndarray, " b"]],
    grads_in: tuple[Float[np.ndarray, "b t blocks width"], Float[np.ndarray, "b blocks width n"]],
    grads_out: tuple[Tokens, Weights, Float[np.ndarray, "b blocks width n"]],
) -> None:
    """Write the gradients of everything that `scan_forward` read, if its chunk was `CHUNK`.

    Args:
        saved: the states at chunk starts, and the number of real tokens of each row.
        grads_in: those of y and of the last states.
        grads_out: of the tokens, where those of B and C are one partial sum for each block (blocks b t 2n); of the
            weights, one partial sum for each thread (threads first), A's not multiplied; of the first states.
    """
    checkpoints, lengths = saved
    grad_y, grad_last = grads_in
    _, (grad_A, grad_D, grad_bias), grad_start = grads_out
    b, _, blocks, width = tokens[0].shape
    n = weights[0].shape[0]
    decay = np.empty((CHUNK, n, width), dtype=grad_y.dtype)
    h = np.empty((CHUNK + 1, n, width), dtype=grad_y.dtype)
    rows = np.empty((3, CHUNK, width), dtype=grad_y.dtype)
    grad_h = np.empty((n, width), dtype=grad_y.dtype)
    work = np.empty((4, width), dtype=grad_y.dtype)
    grad_A[thread] = 0
    grad_D[thread] = 0
    grad_bias[thread] = 0
    for task in range(thread * b * blocks // num_threads, (thread + 1) * b * blocks // num_threads):
        row, block = task // blocks, task % blocks
        length = lengths[row]
        for k in range(n):
            for j in range(width):
                grad_h[k, j] = grad_last[row, block, j, k]
        _clear_padding(row, block, length, grads_out[0])
        for c in range((length + CHUNK - 1) // CHUNK - 1, -1, -1):
            for k in range(n):
                for j in range(width):
                    h[0, k, j] = checkpoints[row, c, k, block, j]
            size = min(CHUNK, length - c * CHUNK)
            for s in range(size):
                _advance((row, c * CHUNK + s, block, s), tokens, weights, (decay, h, rows))
            for s in range(size - 1, -1, -1):
                place = (row, c * CHUNK + s, block, s)
                _token_gradients(place, tokens, weights, (decay, h, rows), (grad_y, grad_h, work), thread, grads_out)
        for k in range(n):
            for j in range(width):
                grad_start[row, block, j, k] = grad_h[k, j]


@inlined_vectors
def _clear_padding(row: int, block: int, length: int, grads_tokens: Tokens) -> None:
    """Padding has no part in the output, so its gradients are 0."""
    grad_u, grad_r, grad_xz, grad_bc = grads_tokens
    _, t, blocks, width = grad_u.shape
    z_at = grad_xz.shape[2] - blocks
    for i in range(length, t):
        for j in range(width):
            grad_u[row, i, block, j] = 0
        for j in range(width):
            grad_r[row, i, block, j] = 0
        for j in range(width):
            grad_xz[row, i, z_at + block, j] = 0
        for k in range(grad_bc.shape[3]):
            grad_bc[block, row, i, k] = 0


@inlined_vectors
def _advance(place: Place, tokens: Tokens, weights: Weights, history: History) -> None:
    """Recompute one token of a chunk: its decay, its state, and in `history[2]` its dt, dt u and ungated output."""
    row, i, block, s = place
    u, r, _, xbc = tokens
    A, D, bias = weights
    decay, h, rows = history
    n, width = decay.shape[1], decay.shape[2]
    B_at, C_at = xbc.shape[2] - 2 * n, xbc.shape[2] - n
    for j in range(width):
        rows[0, s, j] = softplus(r[row, i, block, j] + bias[block, j])
    for j in range(width):
        rows[1, s, j] = rows[0, s, j] * u[row, i, block, j]
    for j in range(width):
        rows[2, s, j] = D[block, j] * u[row, i, block, j]
    for k in range(n):
        B, C = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
        for j in range(width):
            decay[s, k, j] = exp2_nonpositive(rows[0, s, j] * A[k, block, j])
        for j in range(width):
            after = decay[s, k, j] * h[s, k, j] + rows[1, s, j] * B
            h[s + 1, k, j] = after
            rows[2, s, j] += C * after


@inlined_vectors
def _token_gradients(
    place: Place,
    tokens: Tokens,
    weights: Weights,
    history: History,
    grads: tuple[Float[np.ndarray, "b t blocks width"], Float[np.ndarray, "n width"], Float[np.ndarray, "4 width"]],
    thread: int,
    grads_out: tuple[Tokens, Weights, Float[np.ndarray, "b blocks width n"]],
) -> None:
    """Write the gradients at one token, and carry `grads[1]`, that of the state, to the token before."""
    row, i, block, s = place
    u, r, xz, xbc = tokens
    A, D, bias = weights
    decay, h, rows = history
    grad_y, grad_h, work = grads
    (grad_u, grad_r, grad_xz, grad_bc), (grad_A, grad_D, grad_bias), _ = grads_out
    n, width = grad_h.shape
    z_at, B_at, C_at = xz.shape[2] - u.shape[2], xbc.shape[2] - 2 * n, xbc.shape[2] - n
    one = like(1.0, grad_h[0, 0])
    # work: 0 the gradient g of the ungated output, 1 q, 2 that of dt, 3 that of dt u.
    for j in range(width):
        z = xz[row, i, z_at + block, j]
        gate = sigmoid(z)
        work[0, j] = grad_y[row, i, block, j] * z * gate
        work[1, j] = grad_y[row, i, block, j] * gate * (one + z * (one - gate))
    for j in range(width):
        grad_xz[row, i, z_at + block, j] = work[1, j] * rows[2, s, j]
    for j in range(width):
        work[2, j] = 0
    for j in range(width):
        work[3, j] = 0
    for k in range(n):
        B, C = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
        grad_B, grad_C = like(0.0, B), like(0.0, C)
        for j in range(width):
            grad_h[k, j] += work[0, j] * C
            grad_C += work[0, j] * h[s + 1, k, j]
            grad_B += grad_h[k, j] * rows[1, s, j]
        grad_bc[block, row, i, k] = grad_B
        grad_bc[block, row, i, n + k] = grad_C
        for j in range(width):
            work[1, j] = grad_h[k, j] * h[s, k, j] * decay[s, k, j]
        for j in range(width):
            work[3, j] += grad_h[k, j] * B
            grad_h[k, j] *= decay[s, k, j]
        for j in range(width):
            work[2, j] += work[1, j] * A[k, block, j]
            grad_A[thread, k, block, j] += work[1, j] * rows[0, s, j]
    ln_2 = like(_LN_2, one)
    for j in range(width):
        grad_u[row, i, block, j] = work[3, j] * rows[0, s, j] + work[0, j] * D[block, j]
    for j in range(width):
        grad_D[thread, block, j] += work[0, j] * u[row, i, block, j]
    for j in range(width):
        work[1, j] = work[3, j] * u[row, i, block, j] + ln_2 * work[2, j]
    for j in range(width):
        grad_r[row, i, block, j] = work[1, j] * sigmoid(r[row, i, block, j] + bias[block, j])
    for j in range(width):
        grad_bias[thread, block, j] += grad_r[row, i, block, j]
