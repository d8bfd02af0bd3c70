"""One token of the selective scan, over the channels of a block: the inner loops of `selective_scan`, in its letters.

    begin      dt = softplus(r + bias);  dt u;  out = D u
    advance    h <- 2^(dt A) h + (dt u) B;  out <- out + C h           for each of the n numbers of a channel
    gate       y = out z sigmoid(z)

`recompute` is `advance` for the way back, with the gradients of the three below it.
"""

import math

from recherche.kernels.compiled import inlined_vectors
from recherche.kernels.rows import Row
from recherche.kernels.vector_math import exp2_nonpositive, like, sigmoid, softplus

_LN_2 = math.log(2)


@inlined_vectors
def copy(width: int, source: Row, target: Row) -> None:
    """Write a row as it is."""
    for j in range(width):
        target[j] = source[j]


@inlined_vectors
def begin(width: int, token: tuple[Row, Row], vectors: tuple[Row, Row], made: tuple[Row, Row, Row]) -> None:
    """Write dt, dt u, and D u, the first term of the output before its gate."""
    u, r = token
    D, bias = vectors
    dt, dtu, out = made
    for j in range(width):
        dt[j] = softplus(r[j] + bias[j])
        dtu[j] = dt[j] * u[j]
        out[j] = D[j] * u[j]


@inlined_vectors
def advance(width: int, maps: tuple[float, float], A: Row, h: Row, made: tuple[Row, Row, Row]) -> None:
    """Update one of the n numbers that each channel remembers, and add its term to the output."""
    B, C = maps
    dt, dtu, out = made
    for j in range(width):
        after = exp2_nonpositive(dt[j] * A[j]) * h[j] + dtu[j] * B
        h[j] = after
        out[j] += C * after


@inlined_vectors
def recompute(
    width: int, maps: tuple[float, float], A: Row, history: tuple[Row, Row, Row], made: tuple[Row, Row, Row]
) -> None:
    """`advance` that keeps the number before, and writes its decay and the number after."""
    B, C = maps
    before, decay, after = history
    dt, dtu, out = made
    for j in range(width):
        factor = exp2_nonpositive(dt[j] * A[j])
        h = factor * before[j] + dtu[j] * B
        decay[j] = factor
        after[j] = h
        out[j] += C * h


@inlined_vectors
def gate(width: int, z: Row, out: Row, y: Row) -> None:
    """Write the gated output."""
    for j in range(width):
        y[j] = out[j] * z[j] * sigmoid(z[j])


@inlined_vectors
def gate_gradients(width: int, gate: tuple[Row, Row, Row], grads: tuple[Row, Row]) -> None:
    """Write the gradients of z and of the output before the gate."""
    z, out, grad_y = gate
    grad_z, g = grads
    for j in range(width):
        s = sigmoid(z[j])
        g[j] = grad_y[j] * z[j] * s
        grad_z[j] = grad_y[j] * out[j] * s * (like(1.0, s) + z[j] * (like(1.0, s) - s))


@inlined_vectors
def state_gradients(
    width: int,
    maps: tuple[float, float],
    A: Row,
    history: tuple[Row, Row, Row],
    token: tuple[Row, Row, Row],
    grads: tuple[Row, Row, Row, Row],
) -> tuple[float, float]:
    """The gradients of B and C; A's, dt's and dt u's get their terms, and the state's goes one token back."""
    B, C = maps
    before, decay, after = history
    dt, dtu, g = token
    grad_h, grad_A, grad_dt, grad_dtu = grads
    grad_B, grad_C = like(0.0, B), like(0.0, C)
    for j in range(width):
        grad = grad_h[j] + g[j] * C
        grad_C += g[j] * after[j]
        grad_B += grad * dtu[j]
        grad_dtu[j] += grad * B
        grad *= decay[j]
        grad_h[j] = grad
        q = grad * before[j]
        grad_dt[j] += q * A[j]
        grad_A[j] += q * dt[j]
    return grad_B, grad_C


@inlined_vectors
def end_gradients(
    width: int,
    token: tuple[Row, Row, Row, Row, Row, Row],
    vectors: tuple[Row, Row],
    grads: tuple[Row, Row],
    grad_vectors: tuple[Row, Row],
) -> None:
    """Write the gradients of u and r, and add their terms to those of D and the bias."""
    u, r, dt, g, grad_dt, grad_dtu = token
    D, bias = vectors
    grad_u, grad_r = grads
    grad_D, grad_bias = grad_vectors
    for j in range(width):
        grad_u[j] = grad_dtu[j] * dt[j] + g[j] * D[j]
        grad_D[j] += g[j] * u[j]
        grad = (grad_dtu[j] * u[j] + like(_LN_2, u[j]) * grad_dt[j]) * sigmoid(r[j] + bias[j])
        grad_r[j] = grad
        grad_bias[j] += grad
