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
from recherche.kernels.compiled import compiled_vectors

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
        k = 2 * table.shape[2]
        turned = qkv.new_empty(b, heads.n_query + 2 * heads.n_key, t, k)
        on_threads(heads_forward, array(qkv), array(scale), array(table), array(start), turned.numpy(), heads.n_key)
        ctx.save_for_backward(qkv, scale, table, start)
        ctx.heads = heads
        return turned.split((heads.n_query, heads.n_key, heads.n_key), dim=1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        qkv, scale, table, start = ctx.saved_tensors
        grad_qkv = torch.empty_like(qkv)
        grad_scale = np.zeros((num_threads(), *scale.shape), array(scale).dtype)
        inputs = (array(qkv), array(scale), array(table), array(start))
        q, k, v = (grad.detach().numpy() for grad in grads)
        on_threads(heads_backward, (q, k, v), inputs, grad_qkv.numpy(), grad_scale)
        return grad_qkv, torch.from_numpy(grad_scale.sum(0)), None, None, None


@compiled_vectors
def heads_forward(
    thread: int,
    count: int,
    qkv: Float[np.ndarray, "b t d"],
    scale: Float[np.ndarray, "2 k"],
    table: Float[np.ndarray, "2 positions half"],
    start: Int[np.ndarray, " b"],
    turned: Float[np.ndarray, "b heads t k"],
    n_key: int,
) -> None:
    """Fill this thread's share of the tokens in `turned`: all heads, one after the other."""
    b, n_heads, t, k = turned.shape
    half, n_query = k // 2, n_heads - 2 * n_key
    one = qkv.dtype.type(1)
    for item in range(thread * b * t // count, (thread + 1) * b * t // count):
        i, position = item // t, item % t
        cos, sin = table[0, start[i] + position], table[1, start[i] + position]
        for h in range(n_heads):
            x, y = qkv[i, position, h * k : (h + 1) * k], turned[i, h, position]
            if h >= n_query + n_key:
                y[:] = x
                continue
            if scale.shape[1] == 0:
                for j in range(half):
                    y[j] = x[j] * cos[j] - x[half + j] * sin[j]
                    y[half + j] = x[half + j] * cos[j] + x[j] * sin[j]
                continue
            s = scale[0 if h < n_query else 1]
            total = qkv.dtype.type(0)
            for j in range(k):
                total += x[j] * x[j]
            rate = one / np.sqrt(total / qkv.dtype.type(k) + qkv.dtype.type(QK_EPS))
            for j in range(half):
                left, right = x[j] * s[j] * rate, x[half + j] * s[half + j] * rate
                y[j] = left * cos[j] - right * sin[j]
                y[half + j] = right * cos[j] + left * sin[j]


@compiled_vectors
def heads_backward(
    thread: int, count: int, grads: Any, inputs: Any, grad_qkv: Float[np.ndarray, "b t d"], grad_scale: Any
) -> None:
    """Fill this thread's share of the tokens in `grad_qkv`, and add what they give to its part of `grad_scale`."""
    qkv, scale, table, start = inputs
    grad_q, grad_k, grad_v = grads
    n_query, n_key, t, k = grad_q.shape[1], grad_k.shape[1], qkv.shape[1], grad_q.shape[3]
    half, num_tokens = k // 2, qkv.shape[0] * t
    one = qkv.dtype.type(1)
    z = np.empty(k, qkv.dtype)
    for item in range(thread * num_tokens // count, (thread + 1) * num_tokens // count):
        i, position = item // t, item % t
        cos, sin = table[0, start[i] + position], table[1, start[i] + position]
        for h in range(n_query + n_key):
            x, out = qkv[i, position, h * k : (h + 1) * k], grad_qkv[i, position, h * k : (h + 1) * k]
            g = grad_q[i, h, position] if h < n_query else grad_k[i, h - n_query, position]
            for j in range(half):
                z[j] = g[j] * cos[j] + g[half + j] * sin[j]
                z[half + j] = g[half + j] * cos[j] - g[j] * sin[j]
            if scale.shape[1] == 0:
                out[:] = z
                continue
            which = 0 if h < n_query else 1
            s, share = scale[which], grad_scale[thread, which]
            total, inner = qkv.dtype.type(0), qkv.dtype.type(0)
            for j in range(k):
                total += x[j] * x[j]
                inner += z[j] * s[j] * x[j]
            rate = one / np.sqrt(total / qkv.dtype.type(k) + qkv.dtype.type(QK_EPS))
            shift = inner * rate * rate * rate / qkv.dtype.type(k)
            for j in range(k):
                share[j] += z[j] * x[j] * rate
                out[j] = z[j] * s[j] * rate - x[j] * shift
        for h in range(n_key):
            first = (n_query + n_key + h) * k
            grad_qkv[i, position, first : first + k] = grad_v[i, h, position]
