"""SwiGLU's gate in one pass: y = silu(gate) * up, with gate and up side by side in one array.

    silu(g) = g s(g),    d silu = s (1 + g (1 - s)),    s the sigmoid

Both gradients are written side by side too, where the matrix product before the gate wants them.

Reference: Shazeer (2020), https://arxiv.org/abs/2002.05202
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from recherche.kernels.bridge import array, has_compiled_path, on_threads
from recherche.kernels.compiled import compiled_vectors
from recherche.kernels.vector_math import like, sigmoid


def swiglu(gate_up: Float[Tensor, "*batch two_f"]) -> Float[Tensor, "*batch f"]:
    """silu of the first half of the coordinates times the second half."""
    if has_compiled_path(gate_up):
        return _CompiledSwiGLU.apply(gate_up)
    gate, up = gate_up.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


class _CompiledSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gate_up: Tensor) -> Tensor:
        gate_up = gate_up.contiguous()
        f = gate_up.shape[-1] // 2
        y = gate_up.new_empty(*gate_up.shape[:-1], f)
        on_threads(gate_forward, array(gate_up).reshape(-1, 2, f), y.numpy().reshape(-1, f))
        ctx.save_for_backward(gate_up)
        return y

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> Tensor:
        (gate_up,) = ctx.saved_tensors
        f = gate_up.shape[-1] // 2
        grad = torch.empty_like(gate_up)
        pair = (array(gate_up).reshape(-1, 2, f), grad.numpy().reshape(-1, 2, f))
        on_threads(gate_backward, array(grad_y).reshape(-1, f), *pair)
        return grad


@compiled_vectors
def gate_forward(
    thread: int, num_threads: int, gate_up: Float[np.ndarray, "tokens 2 f"], y: Float[np.ndarray, "tokens f"]
) -> None:
    """Fill the thread's share of `y`."""
    n, f = y.shape
    for i in range(thread * n // num_threads, (thread + 1) * n // num_threads):
        for j in range(f):
            y[i, j] = gate_up[i, 0, j] * sigmoid(gate_up[i, 0, j]) * gate_up[i, 1, j]


@compiled_vectors
def gate_backward(
    thread: int,
    num_threads: int,
    grad_y: Float[np.ndarray, "tokens f"],
    gate_up: Float[np.ndarray, "tokens 2 f"],
    grad: Float[np.ndarray, "tokens 2 f"],
) -> None:
    """Fill the thread's share of `grad`, the gradients of gate and up."""
    n, f = grad_y.shape
    for i in range(thread * n // num_threads, (thread + 1) * n // num_threads):
        for j in range(f):
            gate = gate_up[i, 0, j]
            s = sigmoid(gate)
            grad[i, 1, j] = grad_y[i, j] * gate * s
            grad[i, 0, j] = grad_y[i, j] * gate_up[i, 1, j] * s * (like(1.0, s) + gate * (like(1.0, s) - s))
