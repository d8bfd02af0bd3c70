"""A causal depthwise convolution followed by SiLU, compiled: the short convolution of Mamba.

    p_t = bias + sum_{j < taps} w_j x_{t-taps+1+j}     channel by channel; x before the first token is the window
    u_t = p_t sigmoid(p_t)

Channels are contiguous and come in blocks of `width`, so every inner loop is a vector loop and no tensor is transposed.
The backward loop recomputes p_t and keeps the gradients of the last `taps` of them: with these the gradient of the
input `taps - 1` tokens before is complete. A kernel does the share of (row, block) tasks of one thread.

Reference: Gu & Dao (2023), Mamba, Section 3.4, https://arxiv.org/abs/2312.00752
"""

import numpy as np
from jaxtyping import Float

from recherche.kernels.compiled import compiled_vectors, inlined_vectors
from recherche.kernels.rows import Row, row_at
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
    b, t, blocks, width = grad_u.shape
    taps = weights[0].shape[0]
    past = np.empty((taps - 1, width), dtype=grad_u.dtype)
    grad_past = np.empty((taps - 1, width), dtype=grad_u.dtype)
    grad_p = np.empty((taps, width), dtype=grad_u.dtype)
    p = np.empty(width, dtype=grad_u.dtype)
    grad_weights[0][thread] = 0
    grad_weights[1][thread] = 0
    for task in range(thread * b * blocks // num_threads, (thread + 1) * b * blocks // num_threads):
        row, block = task // blocks, task % blocks
        _transpose(window, row, block, past)
        grad_p[:] = 0
        for i in range(t + taps - 1):
            if i < t:
                _convolve(x, weights, past, (row, block), i, p)
                token = row_at(p, ()), row_at(grad_u, (row, i, block))
                _silu_gradient(width, token, row_at(grad_p, (i % taps,)), row_at(grad_weights[1], (thread, block)))
            else:
                grad_p[i % taps] = 0
            source = i - taps + 1
            if source >= 0:
                here, grad_here = row_at(x, (row, source, block)), row_at(grad_x, (row, source, block))
            else:
                here, grad_here = row_at(past, (i,)), row_at(grad_past, (i,))
            for j in range(width):
                grad_here[j] = 0
            for tap in range(taps):
                pair = row_at(weights[0], (tap, block)), row_at(grad_weights[0], (thread, tap, block))
                _spread(width, row_at(grad_p, ((i - tap) % taps,)), (here, grad_here), pair)
        for tap in range(taps - 1):
            for j in range(width):
                grad_window[row, block, j, tap] = grad_past[tap, j]


@inlined_vectors
def _silu_gradient(width: int, token: tuple[Row, Row], grad_p: Row, grad_bias: Row) -> None:
    """Write the gradient of p, and add it to the bias's."""
    p, grad_u = token
    for j in range(width):
        s = sigmoid(p[j])
        grad = grad_u[j] * s * (like(1.0, s) + p[j] * (like(1.0, s) - s))
        grad_p[j] = grad
        grad_bias[j] += grad


@inlined_vectors
def _spread(width: int, grad_p: Row, inputs: tuple[Row, Row], weights: tuple[Row, Row]) -> None:
    """Add to the gradients of one input and of one tap, by the gradient of what they gave a term to."""
    (x, grad_x), (weight, grad_weight) = inputs, weights
    for j in range(width):
        grad_x[j] += weight[j] * grad_p[j]
        grad_weight[j] += x[j] * grad_p[j]


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
    p: Row,
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
