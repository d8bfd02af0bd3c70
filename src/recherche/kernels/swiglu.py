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
from recherche.kernels.vector_math import sigmoid


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
        rows = array(gate_up).reshape(-1, gate_up.shape[-1])
        y = np.empty((len(rows), rows.shape[1] // 2), rows.dtype)
        on_threads(gate_forward, rows, y)
        ctx.save_for_backward(gate_up)
        return torch.from_numpy(y).view(*gate_up.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> Tensor:
        (gate_up,) = ctx.saved_tensors
        rows = array(gate_up).reshape(-1, gate_up.shape[-1])
        grad = np.empty_like(rows)
        on_threads(gate_backward, array(grad_y).reshape(len(rows), -1), rows, grad)
        return torch.from_numpy(grad).view(gate_up.shape)


@compiled_vectors
def gate_forward(
    thread: int, count: int, gate_up: Float[np.ndarray, "tokens two_f"], y: Float[np.ndarray, "tokens f"]
) -> None:
    """Fill this thread's share of `y`."""
    n, f = y.shape
    for i in range(thread * n // count, (thread + 1) * n // count):
        for j in range(f):
            y[i, j] = gate_up[i, j] * sigmoid(gate_up[i, j]) * gate_up[i, f + j]


@compiled_vectors
def gate_backward(
    thread: int,
    count: int,
    grad_y: Float[np.ndarray, "tokens f"],
    gate_up: Float[np.ndarray, "tokens two_f"],
    grad: Float[np.ndarray, "tokens two_f"],
) -> None:
    """Fill this thread's share of `grad` with the gradients of gate and up."""
    n, f = grad_y.shape
    one = gate_up.dtype.type(1)
    for i in range(thread * n // count, (thread + 1) * n // count):
        for j in range(f):
            gate, s = gate_up[i, j], sigmoid(gate_up[i, j])
            grad[i, f + j] = grad_y[i, j] * gate * s
            grad[i, j] = grad_y[i, j] * gate_up[i, f + j] * s * (one + gate * (one - s))
