"""The inner part of a Mamba block as one differentiable function: compiled on a CPU, plain torch elsewhere.

What it computes stands in `mamba_plain`. On a CPU the convolution, the scan, the step size and the gate are compiled
loops, the two small projections between them are matrix products, and one autograd node covers it all: gradients are
written where they belong (both halves of xz in one array), and nothing of size tokens x channels x state is kept.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from recherche.kernels.bridge import array, has_compiled_path, num_threads, on_threads
from recherche.kernels.causal_conv import conv_silu_backward, conv_silu_forward
from recherche.kernels.mamba_plain import MambaWeights, mamba_plain
from recherche.kernels.selective_scan import BLOCK, CHUNK, scan_backward, scan_forward
from recherche.kernels.vector_math import LOG2_E


def mamba_inner(
    xz: Float[Tensor, "b t 2*e"],
    weights: MambaWeights,
    window: Float[Tensor, "b e k-1"],
    ssm: Float[Tensor, "b e n"],
    *,
    lengths: Int[Tensor, " b"] | None = None,
) -> tuple[Float[Tensor, "b t e"], Float[Tensor, "b e n"]]:
    """Outputs before the last projection, and the SSM state after the last real token of each row."""
    if has_compiled_path(xz):
        return _CompiledMamba.apply(xz, *weights, window, ssm, lengths)
    return mamba_plain(xz, weights, window, ssm, lengths=lengths)


class _CompiledMamba(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, xz: Tensor, *inputs: Any) -> tuple[Tensor, Tensor]:
        *weights, window, ssm, lengths = inputs
        conv_weight, conv_bias, x_proj, dt_weight, dt_bias, A_log, D = weights
        ctx.set_materialize_grads(False)
        (b, t, _), (e, n) = xz.shape, A_log.shape
        chunk = CHUNK if any(ctx.needs_input_grad) else max(t, 1)
        counts = np.full(b, t) if lengths is None else array(lengths)
        taps = array(conv_weight.t())
        A = -torch.exp(A_log).t().contiguous()
        scan_weights = (array(A * LOG2_E), array(D), array(dt_bias))

        u = xz.new_empty(b, t, e)
        on_threads(conv_silu_forward, array(xz), taps, array(conv_bias), array(window), u.numpy())
        xbc = u.view(b * t, e) @ x_proj.t()
        r = (xbc[:, : dt_weight.shape[1]] @ dt_weight.t()).view(b, t, e)
        y, last = torch.empty_like(u), torch.empty_like(ssm, memory_format=torch.contiguous_format)
        checkpoints = np.empty((b, -(-t // chunk), n, e), dtype=u.numpy().dtype)
        tokens = (u.numpy(), r.numpy(), array(xz), xbc.view(b, t, -1).numpy())
        on_threads(
            scan_forward, tokens, scan_weights, array(ssm), counts, chunk, (y.numpy(), checkpoints, last.numpy())
        )
        ctx.save_for_backward(xz, u, r, xbc, conv_bias, x_proj, dt_weight, A, window)
        ctx.arrays = (taps, scan_weights, checkpoints, counts)
        return y, last

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None, grad_last: Tensor | None) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        xz, u, r, xbc, conv_bias, x_proj, dt_weight, A, window = ctx.saved_tensors
        taps, scan_weights, checkpoints, counts = ctx.arrays
        (b, t, e), (n, _) = u.shape, A.shape
        rank, count = dt_weight.shape[1], num_threads()
        if grad_y is None:
            grad_y = torch.zeros_like(u)
        if grad_last is None:
            grad_last = u.new_zeros(b, e, n)

        grad_xz, grad_u, grad_r = (
            torch.empty_like(xz, memory_format=torch.contiguous_format),
            torch.empty_like(u),
            torch.empty_like(r),
        )
        grad_bc = u.new_empty(-(-e // BLOCK), b, t, 2 * n)
        grad_A, grad_D, grad_bias = u.new_empty(count, n, e), u.new_empty(count, e), u.new_empty(count, e)
        grad_ssm = torch.empty_like(grad_last, memory_format=torch.contiguous_format)
        on_threads(
            scan_backward,
            (array(grad_y), array(grad_last)),
            (u.numpy(), r.numpy(), array(xz), xbc.view(b, t, -1).numpy()),
            scan_weights,
            checkpoints,
            counts,
            (grad_u.numpy(), grad_r.numpy(), grad_xz.numpy(), grad_bc.numpy()),
            (grad_A.numpy(), grad_D.numpy(), grad_bias.numpy()),
            grad_ssm.numpy(),
        )
        flat_r, flat_u = grad_r.view(b * t, e), u.view(b * t, e)
        grad_xbc = torch.cat([flat_r @ dt_weight, grad_bc.sum(0).view(b * t, 2 * n)], dim=1)
        grad_dt_weight = flat_r.t() @ xbc[:, :rank]
        grad_x_proj = grad_xbc.t() @ flat_u
        grad_u.view(b * t, e).addmm_(grad_xbc, x_proj)

        grad_taps, grad_conv_bias = u.new_empty(count, *taps.shape), u.new_empty(count, e)
        grad_window = torch.empty_like(window, memory_format=torch.contiguous_format)
        on_threads(
            conv_silu_backward,
            grad_u.numpy(),
            array(xz),
            taps,
            array(conv_bias),
            array(window),
            grad_xz.numpy(),
            grad_taps.numpy(),
            grad_conv_bias.numpy(),
            grad_window.numpy(),
        )
        return (
            grad_xz,
            grad_taps.sum(0).t(),
            grad_conv_bias.sum(0),
            grad_x_proj,
            grad_dt_weight,
            grad_bias.sum(0),
            (grad_A.sum(0) * A).t(),
            grad_D.sum(0),
            grad_window,
            grad_ssm,
            None,
        )
