"""A causal depthwise convolution followed by SiLU, compiled: the short convolution of Mamba.

    p_t = bias + sum_{j < taps} w_j x_{t-taps+1+j}     channel by channel; x before the first token is the window
    u_t = p_t sigmoid(p_t)

Channels are contiguous and come in blocks of `width`, so every inner loop is a vector loop and no tensor is transposed.
The backward loop runs from the last token to the first, recomputes p_t and spreads its gradient over the inputs that
made it. A kernel does the share of (row, block) tasks of one thread.

Reference: Gu & Dao (2023), Mamba, Section 3.4, https://arxiv.org/abs/2312.00752
"""

import numpy as np
from jaxtyping import Float

from recherche.kernels.compiled import compiled_vectors, inlined_vectors
from recherche.kernels.vector_math import like, sigmoid


@compiled_vectors
def conv_silu_forward(
    thread: int,
    num_threads: int,
    x: Float[np.ndarray, "b t some_blocks width"],
    weights: tuple[Float[np.ndarray, "taps blocks width"], Float[np.ndarray, "blocks width"]],
    window: Float[np.ndarray, "b blocks width taps-1"],
    u: Float[np.ndarray, "b t blocks width"],
) -> None:
    """Write u.

    Args:
        x: its first blocks are the input.
        weights: taps and bias.
    """
    b, t, blocks, width = u.shape
    past = np.empty((window.shape[3], width), dtype=u.dtype)
    p = np.empty(width, dtype=u.dtype)
    for task in range(thread * b * blocks // num_threads, (thread + 1) * b * blocks // num_threads):
        row, block = task // blocks, task % blocks
        _transpose(window, row, block, past)
        for i in range(t):
            _convolve(x, weights, past, (row, block), i, p)
            for j in range(width):
                u[row, i, block, j] = p[j] * sigmoid(p[j])


@compiled_vectors
def conv_silu_backward(
    thread: int,
    num_threads: int,
    inputs: tuple[
        Float[np.ndarray, "b t some_blocks width"],
        tuple[Float[np.ndarray, "taps blocks width"], Float[np.ndarray, "blocks width"]],
        Float[np.ndarray, "b blocks width taps-1"],
    ],
    grad_u: Float[np.ndarray, "b t blocks width"],
    grad_x: Float[np.ndarray, "b t some_blocks width"],
    grad_weights: tuple[Float[np.ndarray, "threads taps blocks width"], Float[np.ndarray, "threads blocks width"]],
    grad_window: Float[np.ndarray, "b blocks width taps-1"],
) -> None:
    """Write the gradients of x, of the window and, one partial sum for each thread, of taps and bias."""
    x, weights, window = inputs
    grad_taps, grad_bias = grad_weights
    b, t, blocks, width = grad_u.shape
    taps = weights[0].shape[0]
    past = np.empty((taps - 1, width), dtype=grad_u.dtype)
    grad_past = np.empty((taps - 1, width), dtype=grad_u.dtype)
    p = np.empty(width, dtype=grad_u.dtype)
    grad_taps[thread] = 0
    grad_bias[thread] = 0
    for task in range(thread * b * blocks // num_threads, (thread + 1) * b * blocks // num_threads):
        row, block = task // blocks, task % blocks
        _transpose(window, row, block, past)
        grad_past[:] = 0
        for i in range(t):
            for j in range(width):
                grad_x[row, i, block, j] = 0
        for i in range(t - 1, -1, -1):
            _convolve(x, weights, past, (row, block), i, p)
            for j in range(width):
                s = sigmoid(p[j])
                p[j] = grad_u[row, i, block, j] * s * (like(1.0, s) + p[j] * (like(1.0, s) - s))
            for j in range(width):
                grad_bias[thread, block, j] += p[j]
            for tap in range(taps):
                source = i + tap - taps + 1
                if source >= 0:
                    for j in range(width):
                        grad_x[row, source, block, j] += weights[0][tap, block, j] * p[j]
                    for j in range(width):
                        grad_taps[thread, tap, block, j] += x[row, source, block, j] * p[j]
                else:
                    for j in range(width):
                        grad_past[source + taps - 1, j] += weights[0][tap, block, j] * p[j]
                    for j in range(width):
                        grad_taps[thread, tap, block, j] += past[source + taps - 1, j] * p[j]
        for tap in range(taps - 1):
            for j in range(width):
                grad_window[row, block, j, tap] = grad_past[tap, j]


@inlined_vectors
def _transpose(
    window: Float[np.ndarray, "b blocks width taps-1"], row: int, block: int, past: Float[np.ndarray, "taps-1 width"]
) -> None:
    for tap in range(past.shape[0]):
        for j in range(past.shape[1]):
            past[tap, j] = window[row, block, j, tap]


@inlined_vectors
def _convolve(
    x: Float[np.ndarray, "b t some_blocks width"],
    weights: tuple[Float[np.ndarray, "taps blocks width"], Float[np.ndarray, "blocks width"]],
    past: Float[np.ndarray, "taps-1 width"],
    place: tuple[int, int],
    i: int,
    p: Float[np.ndarray, " width"],
) -> None:
    """Write p_i of one row and block."""
    row, block = place
    weight, bias = weights
    taps, _, width = weight.shape
    for j in range(width):
        p[j] = bias[block, j]
    for tap in range(taps):
        source = i + tap - taps + 1
        if source >= 0:
            for j in range(width):
                p[j] += weight[tap, block, j] * x[row, source, block, j]
        else:
            for j in range(width):
                p[j] += weight[tap, block, j] * past[source + taps - 1, j]
