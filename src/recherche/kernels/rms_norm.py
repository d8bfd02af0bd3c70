"""RMSNorm in one pass over the tokens: y = r w x with r = (mean(x^2) + eps)^(-1/2).

Its gradients, with g that of y and d the number of coordinates:

    dx = r (w g) - x r^3 / d <w g, x>            dw = sum over tokens of r g x

Reference: Zhang & Sennrich (2019), https://arxiv.org/abs/1910.07467
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from recherche.kernels.bridge import array, has_compiled_path, num_threads, on_threads
from recherche.kernels.compiled import compiled_vectors

Rows = Float[np.ndarray, "tokens d"]


def rms_norm(x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], *, eps: float) -> Float[Tensor, "*batch d"]:
    """Vectors of mean square 1, each coordinate times its weight."""
    if has_compiled_path(x):
        return _CompiledRMSNorm.apply(x, weight, eps)
    return torch.nn.functional.rms_norm(x, weight.shape, weight, eps)


class _CompiledRMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        x = x.contiguous()
        rows = array(x).reshape(-1, x.shape[-1])
        y, rates = np.empty_like(rows), np.empty(len(rows), rows.dtype)
        on_threads(norm_forward, rows, array(weight), eps, y, rates)
        ctx.save_for_backward(x, weight)
        ctx.rates = rates
        return torch.from_numpy(y).view(x.shape)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight = ctx.saved_tensors
        rows = array(x).reshape(-1, x.shape[-1])
        grad_rows = array(grad_y).reshape(rows.shape)
        grad_x = np.empty_like(rows)
        grad_weight = np.zeros((num_threads(), x.shape[-1]), rows.dtype)
        on_threads(norm_backward, grad_rows, rows, array(weight), ctx.rates, grad_x, grad_weight)
        return torch.from_numpy(grad_x).view(x.shape), torch.from_numpy(grad_weight.sum(0)), None


@compiled_vectors
def norm_forward(
    thread: int,
    count: int,
    x: Rows,
    weight: Float[np.ndarray, " d"],
    eps: float,
    y: Rows,
    rates: Float[np.ndarray, " tokens"],
) -> None:
    """Fill this thread's share of `y`, and of `rates` with the factor r of each token."""
    n, d = x.shape
    for i in range(thread * n // count, (thread + 1) * n // count):
        total = x.dtype.type(0)
        for j in range(d):
            total += x[i, j] * x[i, j]
        rate = x.dtype.type(1) / np.sqrt(total / x.dtype.type(d) + x.dtype.type(eps))
        rates[i] = rate
        for j in range(d):
            y[i, j] = x[i, j] * rate * weight[j]


@compiled_vectors
def norm_backward(
    thread: int,
    count: int,
    grad_y: Rows,
    x: Rows,
    weight: Float[np.ndarray, " d"],
    rates: Float[np.ndarray, " tokens"],
    grad_x: Rows,
    grad_weight: Float[np.ndarray, "threads d"],
) -> None:
    """Fill this thread's share of `grad_x`, and add what it gives to the thread's row of `grad_weight`."""
    n, d = x.shape
    share = grad_weight[thread]
    for i in range(thread * n // count, (thread + 1) * n // count):
        rate = rates[i]
        inner = x.dtype.type(0)
        for j in range(d):
            inner += grad_y[i, j] * weight[j] * x[i, j]
            share[j] += grad_y[i, j] * x[i, j] * rate
        shift = inner * rate * rate * rate / x.dtype.type(d)
        for j in range(d):
            grad_x[i, j] = grad_y[i, j] * weight[j] * rate - x[i, j] * shift
