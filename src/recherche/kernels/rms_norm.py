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
from recherche.kernels.vector_math import like

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
        y, rates = torch.empty_like(x), x.new_empty(x.shape[:-1])
        rows = (array(x).reshape(-1, x.shape[-1]), y.numpy().reshape(-1, x.shape[-1]))
        on_threads(norm_forward, *rows, array(weight), eps, rates.numpy().reshape(-1))
        ctx.save_for_backward(x, weight, rates)
        return y

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight, rates = ctx.saved_tensors
        grad_x, grad_weight = torch.empty_like(x), x.new_zeros(num_threads(), x.shape[-1])
        rows = [array(tensor).reshape(-1, x.shape[-1]) for tensor in (grad_y, x, grad_x)]
        on_threads(norm_backward, *rows, array(weight), rates.numpy().reshape(-1), grad_weight.numpy())
        return grad_x, grad_weight.sum(0), None


@compiled_vectors
def norm_forward(
    thread: int,
    num_threads: int,
    x: Rows,
    y: Rows,
    weight: Float[np.ndarray, " d"],
    eps: float,
    rates: Float[np.ndarray, " tokens"],
) -> None:
    """Fill the thread's share of `y`, and of `rates` with the factor r of each token."""
    n, d = x.shape
    for i in range(thread * n // num_threads, (thread + 1) * n // num_threads):
        total = like(0.0, weight[0])
        for j in range(d):
            total += x[i, j] * x[i, j]
        rate = like(1.0, total) / np.sqrt(total / like(d, total) + like(eps, total))
        rates[i] = rate
        for j in range(d):
            y[i, j] = x[i, j] * rate * weight[j]


@compiled_vectors
def norm_backward(
    thread: int,
    num_threads: int,
    grad_y: Rows,
    x: Rows,
    grad_x: Rows,
    weight: Float[np.ndarray, " d"],
    rates: Float[np.ndarray, " tokens"],
    grad_weight: Float[np.ndarray, "threads d"],
) -> None:
    """Fill the thread's share of `grad_x`; add that share's part of the weight's gradient to the thread's row."""
    n, d = x.shape
    for i in range(thread * n // num_threads, (thread + 1) * n // num_threads):
        rate = rates[i]
        inner = like(0.0, rate)
        for j in range(d):
            inner += grad_y[i, j] * weight[j] * x[i, j]
        for j in range(d):
            grad_weight[thread, j] += grad_y[i, j] * x[i, j] * rate
        shift = inner * rate * rate * rate / like(d, rate)
        for j in range(d):
            grad_x[i, j] = grad_y[i, j] * weight[j] * rate - x[i, j] * shift
