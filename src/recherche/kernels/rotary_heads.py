"""From one fused projection to rotated heads, in one pass: split, normalise, scale, turn, transpose.

A head's coordinates x of a query or key become, with r = (mean(x^2) + eps)^(-1/2) and s the learned scale,

    z = r s x                                      QK-norm; z = x without it
    y_j       = z_j cos - z_{j + k/2} sin          the angle is that of the token's position
    y_{j+k/2} = z_{j + k/2} cos + z_j sin

and a value is copied. The gradient of z is that of y turned back; that of x is the gradient of an RMSNorm.

Reference: Su et al. (2021), RoFormer, https://arxiv.org/abs/2104.09864; Henry et al. (2020), QK-norm,
https://arxiv.org/abs/2010.04245
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from recherche.kernels.bridge import array, num_threads, on_threads
from recherche.kernels.compiled import compiled_vectors, inlined_vectors
from recherche.kernels.vector_math import like

QK_EPS = 1e-6


class Heads(NamedTuple):
    """How many heads the fused projection holds: queries, then keys, then values."""

    n_query: int
    n_key: int


def rotary_heads(
    qkv: Float[Tensor, "b t d"],
    scale: Float[Tensor, "2 k"] | None,
    table: Float[Tensor, "2 positions half"],
    start: Int[Tensor, " b"],
    *,
    heads: Heads,
) -> tuple[Float[Tensor, "b h t k"], Float[Tensor, "b g t k"], Float[Tensor, "b g t k"]]:
    """Rotated queries, rotated keys and values of tokens on a CPU; row i begins at position start[i]."""
    if scale is None:
        scale = qkv.new_empty(2, 0)
    return _RotaryHeads.apply(qkv, scale, table, start, heads)


class _RotaryHeads(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv: Tensor, scale: Tensor, table: Tensor, start: Tensor, heads: Heads) -> tuple[Tensor, ...]:
        qkv = qkv.contiguous()
        b, t, _ = qkv.shape
        half = table.shape[2]
        turned = qkv.new_empty(b, heads.n_query + 2 * heads.n_key, t, 2 * half)
        inputs = (_halves(qkv.view(b, t, -1, 2 * half)), _halves(scale), array(table), array(start))
        on_threads(heads_forward, inputs, _halves(turned), heads.n_key)
        ctx.save_for_backward(qkv, scale, table, start)
        return turned.split((heads.n_query, heads.n_key, heads.n_key), dim=1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        qkv, scale, table, start = ctx.saved_tensors
        (b, t, _), half = qkv.shape, table.shape[2]
        grad_qkv, grad_scale = torch.empty_like(qkv), scale.new_zeros(num_threads(), *scale.shape)
        inputs = (_halves(qkv.view(b, t, -1, 2 * half)), _halves(scale), array(table), array(start))
        on_threads(
            heads_backward,
            tuple(_halves(grad) for grad in grads),
            inputs,
            _halves(grad_qkv.view(b, t, -1, 2 * half)),
            _halves(grad_scale),
        )
        return grad_qkv, grad_scale.sum(0), None, None, None


def _halves(x: Tensor) -> np.ndarray:
    """The array of `x` with its last axis, one head, cut into halves."""
    return array(x).reshape(*x.shape[:-1], 2, x.shape[-1] // 2)


Inputs = tuple[
    Float[np.ndarray, "b t heads 2 half"],
    Float[np.ndarray, "2 2 half_or_none"],
    Float[np.ndarray, "2 positions half"],
    Int[np.ndarray, " b"],
]
"""The fused projection; the learned scales, empty without QK-norm; cosines and sines; first positions."""


@compiled_vectors
def heads_forward(
    thread: int, num_threads: int, inputs: Inputs, turned: Float[np.ndarray, "b heads t 2 half"], n_key: int
) -> None:
    """Fill the thread's share of `turned` with all heads, one after the other."""
    qkv, scale, table, start = inputs
    b, n_heads, t, _, half = turned.shape
    n_query = n_heads - 2 * n_key
    z = np.empty((2, half), qkv.dtype)
    for item in range(thread * b * t // num_threads, (thread + 1) * b * t // num_threads):
        i, token = item // t, item % t
        at = start[i] + token
        for h in range(n_heads):
            if h >= n_query + n_key:
                for side in range(2):
                    for j in range(half):
                        turned[i, h, token, side, j] = qkv[i, token, h, side, j]
                continue
            which = 0 if h < n_query else 1
            rate = _rate(qkv, i, token, h) if scale.shape[2] else like(1.0, qkv[0, 0, 0, 0, 0])
            for side in range(2):
                if scale.shape[2]:
                    for j in range(half):
                        z[side, j] = qkv[i, token, h, side, j] * scale[which, side, j] * rate
                else:
                    for j in range(half):
                        z[side, j] = qkv[i, token, h, side, j]
            for j in range(half):
                turned[i, h, token, 0, j] = z[0, j] * table[0, at, j] - z[1, j] * table[1, at, j]
            for j in range(half):
                turned[i, h, token, 1, j] = z[1, j] * table[0, at, j] + z[0, j] * table[1, at, j]


@compiled_vectors
def heads_backward(
    thread: int,
    num_threads: int,
    grads: tuple[
        Float[np.ndarray, "b h t 2 half"], Float[np.ndarray, "b g t 2 half"], Float[np.ndarray, "b g t 2 half"]
    ],
    inputs: Inputs,
    grad_qkv: Float[np.ndarray, "b t heads 2 half"],
    grad_scale: Float[np.ndarray, "threads 2 2 half_or_none"],
) -> None:
    """Fill the thread's share of `grad_qkv`; add that share's part of the scales' gradient to the thread's row."""
    qkv, scale, table, start = inputs
    grad_q, grad_k, grad_v = grads
    n_query, n_key = grad_q.shape[1], grad_k.shape[1]
    b, t, _, _, half = qkv.shape
    z = np.empty((2, half), qkv.dtype)
    for item in range(thread * b * t // num_threads, (thread + 1) * b * t // num_threads):
        i, token = item // t, item % t
        at = start[i] + token
        for h in range(n_query + n_key):
            which = 0 if h < n_query else 1
            g, own = (grad_q, h) if h < n_query else (grad_k, h - n_query)
            for j in range(half):
                z[0, j] = g[i, own, token, 0, j] * table[0, at, j] + g[i, own, token, 1, j] * table[1, at, j]
            for j in range(half):
                z[1, j] = g[i, own, token, 1, j] * table[0, at, j] - g[i, own, token, 0, j] * table[1, at, j]
            if scale.shape[2] == 0:
                for side in range(2):
                    for j in range(half):
                        grad_qkv[i, token, h, side, j] = z[side, j]
                continue
            rate = _rate(qkv, i, token, h)
            inner = like(0.0, rate)
            for side in range(2):
                for j in range(half):
                    inner += z[side, j] * scale[which, side, j] * qkv[i, token, h, side, j]
                for j in range(half):
                    grad_scale[thread, which, side, j] += z[side, j] * qkv[i, token, h, side, j] * rate
            shift = inner * rate * rate * rate / like(2 * half, rate)
            for side in range(2):
                for j in range(half):
                    grad_qkv[i, token, h, side, j] = (
                        z[side, j] * scale[which, side, j] * rate - qkv[i, token, h, side, j] * shift
                    )
        for h in range(n_key):
            for side in range(2):
                for j in range(half):
                    grad_qkv[i, token, n_query + n_key + h, side, j] = grad_v[i, h, token, side, j]


@inlined_vectors
def _rate(qkv: Float[np.ndarray, "b t heads 2 half"], i: int, token: int, h: int) -> float:
    """1 / rms of one head of one token."""
    half = qkv.shape[4]
    total = like(0.0, qkv[0, 0, 0, 0, 0])
    for side in range(2):
        for j in range(half):
            total += qkv[i, token, h, side, j] * qkv[i, token, h, side, j]
    return like(1.0, total) / np.sqrt(total / like(2 * half, total) + like(QK_EPS, total))
