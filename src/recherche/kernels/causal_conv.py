"""A causal depthwise convolution followed by SiLU, compiled: the short convolution of Mamba.

    p_t = bias + sum_{j < k} w_j x_{t-k+1+j}        channel by channel; x before the first token comes from the window
    u_t = p_t sigmoid(p_t)

Channels are contiguous, so every loop over them is a vector loop, and no tensor is transposed. The backward loop runs
from the last token to the first, recomputes p_t and spreads its gradient over the k inputs that made it.

Reference: Gu & Dao (2023), Mamba, Section 3.4, https://arxiv.org/abs/2312.00752
"""

import numpy as np
from jaxtyping import Float

from recherche.kernels.compiled import compiled, compiled_vectors
from recherche.kernels.vector_math import like, sigmoid


@compiled_vectors
def conv_silu_forward(
    thread: int,
    num_threads: int,
    xz: Float[np.ndarray, "b t c"],
    weight: Float[np.ndarray, "k d"],
    bias: Float[np.ndarray, " d"],
    window: Float[np.ndarray, "b d k-1"],
    u: Float[np.ndarray, "b t d"],
) -> None:
    """Write u; x is the first d of the c channels of `xz`."""
    b, t, d = u.shape
    past = np.empty((weight.shape[0] - 1, d), dtype=u.dtype)
    p = np.empty(d, dtype=u.dtype)
    for row in range(thread * b // num_threads, (thread + 1) * b // num_threads):
        _transpose(window, row, past)
        for i in range(t):
            _convolve(xz, weight, bias, past, row, i, p)
            for j in range(d):
                u[row, i, j] = p[j] * sigmoid(p[j])


@compiled_vectors
def conv_silu_backward(
    thread: int,
    num_threads: int,
    grad_u: Float[np.ndarray, "b t d"],
    xz: Float[np.ndarray, "b t c"],
    weight: Float[np.ndarray, "k d"],
    bias: Float[np.ndarray, " d"],
    window: Float[np.ndarray, "b d k-1"],
    grad_xz: Float[np.ndarray, "b t c"],
    grad_weight: Float[np.ndarray, "threads k d"],
    grad_bias: Float[np.ndarray, "threads d"],
    grad_window: Float[np.ndarray, "b d k-1"],
) -> None:
    """Write the gradients; those of the weights one partial sum for each thread."""
    b, t, d = grad_u.shape
    taps = weight.shape[0]
    past = np.empty((taps - 1, d), dtype=grad_u.dtype)
    grad_past = np.empty((taps - 1, d), dtype=grad_u.dtype)
    p = np.empty(d, dtype=grad_u.dtype)
    grad_weight[thread] = 0
    grad_bias[thread] = 0
    for row in range(thread * b // num_threads, (thread + 1) * b // num_threads):
        _transpose(window, row, past)
        grad_past[:] = 0
        for i in range(t):
            for j in range(d):
                grad_xz[row, i, j] = 0
        for i in range(t - 1, -1, -1):
            _convolve(xz, weight, bias, past, row, i, p)
            for j in range(d):
                s = sigmoid(p[j])
                p[j] = grad_u[row, i, j] * s * (like(1.0, s) + p[j] * (like(1.0, s) - s))
            for j in range(d):
                grad_bias[thread, j] += p[j]
            for tap in range(taps):
                source = i + tap - taps + 1
                if source >= 0:
                    for j in range(d):
                        grad_xz[row, source, j] += weight[tap, j] * p[j]
                    for j in range(d):
                        grad_weight[thread, tap, j] += xz[row, source, j] * p[j]
                else:
                    for j in range(d):
                        grad_past[source + taps - 1, j] += weight[tap, j] * p[j]
                        grad_weight[thread, tap, j] += past[source + taps - 1, j] * p[j]
        for tap in range(taps - 1):
            for j in range(d):
                grad_window[row, j, tap] = grad_past[tap, j]


@compiled
def _transpose(window: Float[np.ndarray, "b d k-1"], row: int, past: Float[np.ndarray, "k-1 d"]) -> None:
    for tap in range(past.shape[0]):
        for j in range(past.shape[1]):
            past[tap, j] = window[row, j, tap]


@compiled
def _convolve(
    xz: Float[np.ndarray, "b t c"],
    weight: Float[np.ndarray, "k d"],
    bias: Float[np.ndarray, " d"],
    past: Float[np.ndarray, "k-1 d"],
    row: int,
    i: int,
    p: Float[np.ndarray, " d"],
) -> None:
    """Write p_i of one row."""
    taps, d = weight.shape
    for j in range(d):
        p[j] = bias[j]
    for tap in range(taps):
        source = i + tap - taps + 1
        if source >= 0:
            for j in range(d):
                p[j] += weight[tap, j] * xz[row, source, j]
        else:
            for j in range(d):
                p[j] += weight[tap, j] * past[source + taps - 1, j]
