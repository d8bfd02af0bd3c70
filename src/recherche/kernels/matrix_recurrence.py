"""Recurrences that keep a matrix for each head, as differentiable functions around a pair of compiled loops.

Memory is linear in tokens: forward keeps the matrix at the start of every chunk, backward recomputes those of one chunk
at a time, from the last to the first.

Reference: Yang et al. (2024), Gated Linear Attention, Section 3.3 (recomputation of states),
https://arxiv.org/abs/2312.06635
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from recherche.kernels.bridge import array, on_threads

CHUNK = 16
"""Tokens between two states kept for backward."""

Loops = tuple[Callable[..., None], Callable[..., None]]
"""Forward: (thread, count, tokens, first states, chunk, (y, states at chunk starts, last states)). Backward: (thread,
count, tokens, states at chunk starts, gradients of y and last states, (those of tokens, those of first states))."""


def matrix_recurrence(
    loops: Loops, tokens: tuple[Float[Tensor, "b h t _"], ...], state: Float[Tensor, "b h k m"]
) -> tuple[Float[Tensor, "b h t m"], Float[Tensor, "b h k m"]]:
    """Outputs of all tokens, and the state after the last; on the CPU.

    Args:
        tokens: whatever the loops read of a token, the third of the shape of an output.
    """
    y, last = _Recurrence.apply(loops, *(x.transpose(1, 2) for x in tokens), state)
    return y.transpose(1, 2), last


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, loops: Loops, *tensors: Tensor) -> tuple[Tensor, Tensor]:
        *tokens, state = (x.contiguous() for x in tensors)
        b, t, h, _ = tokens[2].shape
        chunk = CHUNK if any(ctx.needs_input_grad) else max(t, 1)
        y, last = torch.empty_like(tokens[2]), torch.empty_like(state)
        kept = state.new_empty(b, h, -(-t // chunk), *state.shape[2:])
        arrays = tuple(map(array, tokens))
        on_threads(loops[0], arrays, array(state), chunk, (y.numpy(), kept.numpy(), last.numpy()))
        ctx.save_for_backward(*tokens, kept)
        ctx.backward_loop = loops[1]
        return y, last

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor, grad_last: Tensor) -> tuple[Tensor | None, ...]:
        *tokens, kept = ctx.saved_tensors
        grads = tuple(map(torch.empty_like, tokens))
        grad_state = torch.empty_like(grad_last, memory_format=torch.contiguous_format)
        grads_out = (tuple(grad.numpy() for grad in grads), grad_state.numpy())
        arrays = tuple(map(array, tokens))
        on_threads(ctx.backward_loop, arrays, array(kept), (array(grad_y), array(grad_last)), grads_out)
        return None, *grads, grad_state
