"""The selective scan of Mamba, compiled for the CPU, forward and backward, with its step size and its gate.

    dt_t = softplus(r_t + bias)                       e channels; r_t is what the low-rank projection gives
    h_t  = 2^(dt_t A) h_{t-1} + (dt_t u_t) B_t        e x n; A comes multiplied by log2(e)
    y_t  = (C_t . h_t + D u_t) z_t sigmoid(z_t)

Memory is linear in tokens: forward keeps h at the start of every chunk, backward recomputes the history of one chunk
at a time in scratch that belongs to the thread. Channels come in blocks of `width`; a kernel does the share of
(row, block) tasks of one thread. Every inner loop is a part of its own that runs over the channels of a block.

Backward, from the last token to the first, with g_t = dL/dy_t z_t sigmoid(z_t) and dh = dL/dh_t:

    dh += g_t C_t;   dC_t = g_t . h_t;   dB_t = dh . (dt u)_t;   d(dt u)_t = dh . B_t
    q   = dh h_{t-1} 2^(dt A);   dA += q dt_t;   ddt_t += q . A;   dh <- 2^(dt A) dh

Reference: Gu & Dao (2023), Mamba, Algorithm 2, https://arxiv.org/abs/2312.00752
"""

import numpy as np
from jaxtyping import Float, Int

from recherche.kernels.compiled import compiled_vectors, inlined_vectors
from recherche.kernels.rows import row_at
from recherche.kernels.scan_rows import (
    advance,
    begin,
    copy,
    end_gradients,
    gate,
    gate_gradients,
    recompute,
    state_gradients,
)

CHUNK = 8
"""Tokens between two states kept for backward: its scratch then fits the second-level cache."""

_LARGEST_WIDTH = 128

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
"""Row, block of channels, and of a chunk the first token and the number of them."""

History = tuple[
    Float[np.ndarray, "chunk n width"], Float[np.ndarray, "chunk_and_one n width"], Float[np.ndarray, "chunk 4 width"]
]
"""Of one chunk: decay; states, the one before it first; dt, dt u, the output before the gate and its gradient."""


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
    b, _, blocks, width = u.shape
    n = A.shape[0]
    z_at, B_at, C_at = xz.shape[2] - blocks, xbc.shape[2] - 2 * n, xbc.shape[2] - n
    h = np.empty((n, width), dtype=u.dtype)
    scratch = np.empty((3, width), dtype=u.dtype)
    for task in range(thread * b * blocks // num_threads, (thread + 1) * b * blocks // num_threads):
        row, block = task // blocks, task % blocks
        length = start[1][row]
        made = row_at(scratch, (0,)), row_at(scratch, (1,)), row_at(scratch, (2,))
        for k in range(n):
            for j in range(width):
                h[k, j] = start[0][row, block, j, k]
        for i in range(length):
            at = row, i, block
            if i % chunk == 0:
                for k in range(n):
                    copy(width, row_at(h, (k,)), row_at(checkpoints, (row, i // chunk, k, block)))
            begin(width, (row_at(u, at), row_at(r, at)), (row_at(D, (block,)), row_at(bias, (block,))), made)
            for k in range(n):
                maps = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
                advance(width, maps, row_at(A, (k, block)), row_at(h, (k,)), made)
            gate(width, row_at(xz, (row, i, z_at + block)), made[2], row_at(y, at))
        y[row, length:, block] = 0
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
    (grad_u, grad_r, grad_xz, grad_bc), (grad_A, grad_D, grad_bias), grad_start = grads_out
    b, _, blocks, width = grad_u.shape
    n, dtype = grad_A.shape[1], grad_u.dtype
    decay = np.empty((CHUNK, n, width), dtype=dtype)
    h = np.empty((CHUNK + 1, n, width), dtype=dtype)
    made = np.empty((CHUNK, 4, width), dtype=dtype)
    grad_h = np.empty((n, width), dtype=dtype)
    grad_steps = np.empty((2, width), dtype=dtype)
    grad_A[thread] = 0
    grad_D[thread] = 0
    grad_bias[thread] = 0
    for task in range(thread * b * blocks // num_threads, (thread + 1) * b * blocks // num_threads):
        row, block = task // blocks, task % blocks
        length = lengths[row]
        grad_u[row, length:, block] = 0
        grad_r[row, length:, block] = 0
        grad_xz[row, length:, grad_xz.shape[2] - blocks + block] = 0
        grad_bc[block, row, length:] = 0
        for k in range(n):
            for j in range(width):
                grad_h[k, j] = grad_last[row, block, j, k]
        for c in range((length + CHUNK - 1) // CHUNK - 1, -1, -1):
            place = row, block, c * CHUNK, min(CHUNK, length - c * CHUNK)
            for k in range(n):
                copy(width, row_at(checkpoints, (row, c, k, block)), row_at(h, (0, k)))
            _replay(place, tokens, weights, (decay, h, made), (grad_y, grad_xz))
            _unwind(place, tokens, weights, (decay, h, made), (thread, grad_h, grad_steps), grads_out)
        for k in range(n):
            for j in range(width):
                grad_start[row, block, j, k] = grad_h[k, j]


@inlined_vectors
def _replay(
    place: Place,
    tokens: Tokens,
    weights: Weights,
    history: History,
    gradients: tuple[Float[np.ndarray, "b t blocks width"], Float[np.ndarray, "b t some_blocks width"]],
) -> None:
    """Compute the history of a chunk from its first state, and the gradients at its gates."""
    row, block, first, size = place
    u, r, xz, xbc = tokens
    A, D, bias = weights
    decay, h, made = history
    grad_y, grad_xz = gradients
    n, width = h.shape[1:]
    z_at, B_at, C_at = xz.shape[2] - u.shape[2], xbc.shape[2] - 2 * n, xbc.shape[2] - n
    for s in range(size):
        i = first + s
        at, z_row = (row, i, block), (row, i, z_at + block)
        token = row_at(made, (s, 0)), row_at(made, (s, 1)), row_at(made, (s, 2))
        begin(width, (row_at(u, at), row_at(r, at)), (row_at(D, (block,)), row_at(bias, (block,))), token)
        for k in range(n):
            maps = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
            states = row_at(h, (s, k)), row_at(decay, (s, k)), row_at(h, (s + 1, k))
            recompute(width, maps, row_at(A, (k, block)), states, token)
        gate = row_at(xz, z_row), row_at(made, (s, 2)), row_at(grad_y, at)
        gate_gradients(width, gate, (row_at(grad_xz, z_row), row_at(made, (s, 3))))


@inlined_vectors
def _unwind(
    place: Place,
    tokens: Tokens,
    weights: Weights,
    history: History,
    carried: tuple[int, Float[np.ndarray, "n width"], Float[np.ndarray, "2 width"]],
    grads_out: tuple[Tokens, Weights, Float[np.ndarray, "b blocks width n"]],
) -> None:
    """Go back through a chunk, with the gradient of the state, and write those of its tokens and weights."""
    row, block, first, size = place
    u, r, _, xbc = tokens
    A, D, bias = weights
    decay, h, made = history
    thread, grad_h, grad_steps = carried
    (grad_u, grad_r, _, grad_bc), (grad_A, grad_D, grad_bias), _ = grads_out
    n, width = grad_h.shape
    B_at, C_at = xbc.shape[2] - 2 * n, xbc.shape[2] - n
    for s in range(size - 1, -1, -1):
        i = first + s
        at = row, i, block
        dt, dtu, g = row_at(made, (s, 0)), row_at(made, (s, 1)), row_at(made, (s, 3))
        grad_dt, grad_dtu = row_at(grad_steps, (0,)), row_at(grad_steps, (1,))
        grad_steps[:] = 0
        for k in range(n):
            maps = xbc[row, i, B_at + k], xbc[row, i, C_at + k]
            states = row_at(h, (s, k)), row_at(decay, (s, k)), row_at(h, (s + 1, k))
            sums = row_at(grad_h, (k,)), row_at(grad_A, (thread, k, block)), grad_dt, grad_dtu
            grad_B, grad_C = state_gradients(width, maps, row_at(A, (k, block)), states, (dt, dtu, g), sums)
            grad_bc[block, row, i, k] = grad_B
            grad_bc[block, row, i, n + k] = grad_C
        token = row_at(u, at), row_at(r, at), dt, g, grad_dt, grad_dtu
        vectors = row_at(D, (block,)), row_at(bias, (block,))
        sums_of_vectors = row_at(grad_D, (thread, block)), row_at(grad_bias, (thread, block))
        end_gradients(width, token, vectors, (row_at(grad_u, at), row_at(grad_r, at)), sums_of_vectors)
