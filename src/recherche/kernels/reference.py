"""The slow truth: Mamba's inner recurrences as loops over single numbers' rows, in float64, one equation a line.

Every compiled kernel is held to these functions; they are written to be compared with the paper, not to be fast.

Reference: Gu & Dao (2023), Mamba, Algorithm 2, https://arxiv.org/abs/2312.00752
"""

import numpy as np
from jaxtyping import Float, Int


def sigmoid(x: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def causal_conv_silu(
    x: Float[np.ndarray, "b t e"],
    taps: Float[np.ndarray, "e k"],
    bias: Float[np.ndarray, " e"],
    window: Float[np.ndarray, "b e k-1"],
) -> Float[np.ndarray, "b t e"]:
    """silu of the causal depthwise convolution of `x`, preceded by `window`."""
    (b, t, e), k = x.shape, taps.shape[1]
    y = np.empty((b, t, e))
    for row in range(b):
        padded = np.concatenate([window[row].T, x[row]])
        for i in range(t):
            p = bias + sum(taps[:, j] * padded[i + j] for j in range(k))
            y[row, i] = p * sigmoid(p)
    return y


def selective_scan(
    tokens: tuple[
        Float[np.ndarray, "b t e"], Float[np.ndarray, "b t e"], Float[np.ndarray, "b t n"], Float[np.ndarray, "b t n"]
    ],
    z: Float[np.ndarray, "b t e"],
    A: Float[np.ndarray, "e n"],
    D: Float[np.ndarray, " e"],
    start: Float[np.ndarray, "b e n"],
    *,
    lengths: Int[np.ndarray, " b"],
) -> tuple[Float[np.ndarray, "b t e"], Float[np.ndarray, "b e n"]]:
    """Gated outputs, 0 at padding, and the state after the last real token of each row.

    Args:
        tokens: u, the step size dt after its softplus, B and C.
    """
    u, dt, B, C = tokens
    y, last = np.zeros(u.shape), np.empty(start.shape)
    for row in range(u.shape[0]):
        h = start[row]
        for i in range(lengths[row]):
            decay = np.exp(dt[row, i, :, None] * A)
            h = decay * h + (dt[row, i] * u[row, i])[:, None] * B[row, i]
            y[row, i] = (h @ C[row, i] + D * u[row, i]) * z[row, i] * sigmoid(z[row, i])
        last[row] = h
    return y, last
