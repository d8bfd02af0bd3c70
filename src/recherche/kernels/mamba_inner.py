"""The inner part of a Mamba block as one differentiable function, by the fastest way there is.

    on a CPU                                      compiled loops (this file)
    on a GPU with mamba_ssm, from an empty state  its kernel (`mamba_fused`)
    anywhere else                                 plain torch (`mamba_plain`)

What it computes stands in `mamba_plain`. On a CPU the convolution, the scan, the step size and the gate are compiled
loops, the two small projections between them are matrix products, and one autograd node covers it all: gradients are
written where they belong (both halves of xz in one array), and nothing of size tokens x channels x state is kept.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from recherche.kernels.bridge import array, has_compiled_path, num_threads, on_threads
from recherche.kernels.causal_conv import conv_silu_backward, conv_silu_forward
from recherche.kernels.mamba_fused import installed_scan, mamba_fused
from recherche.kernels.mamba_plain import MambaWeights, mamba_plain
from recherche.kernels.selective_scan import CHUNK, block_width, scan_backward, scan_forward
from recherche.kernels.vector_math import LOG2_E


def mamba_inner(
    xz: Float[Tensor, "b t two_e"],
    weights: MambaWeights,
    window: Float[Tensor, "b e w"] | None = None,
    ssm: Float[Tensor, "b e n"] | None = None,
    *,
    lengths: Int[Tensor, " b"] | None = None,
) -> tuple[Float[Tensor, "b t e"], Float[Tensor, "b e n"]]:
    """Outputs before the last projection, and the SSM state after the last real token of each row.

    Args:
        window: inputs of the convolution before the first token; None: zeros.
        ssm: state before the first token; None: zeros.
    """
    whole = window is None and ssm is None and lengths is None
    if whole and xz.is_cuda and (scan := installed_scan()):
        return mamba_fused(xz, weights, scan)
    (e, n), taps = weights.A_log.shape, weights.conv_weight.shape[1]
    window = xz.new_zeros(xz.shape[0], e, taps - 1) if window is None else window
    ssm = xz.new_zeros(xz.shape[0], e, n) if ssm is None else ssm
    if has_compiled_path(xz):
        return _CompiledMamba.apply(xz, *weights, window, ssm, lengths)
    return mamba_plain(xz, weights, window, ssm, lengths=lengths)


class _Arrays(NamedTuple):
    """The inputs as arrays, channels in blocks: what both directions read."""

    xz: np.ndarray
    conv_weights: tuple[np.ndarray, np.ndarray]
    scan_weights: tuple[np.ndarray, np.ndarray, np.ndarray]
    window: np.ndarray
    lengths: np.ndarray


def _arrays(xz: Tensor, weights: MambaWeights, window: Tensor, lengths: Tensor | None) -> _Arrays:
    e = weights.D.shape[0]
    width = block_width(e)
    A = weights.A_log.detach().t().exp().mul_(-LOG2_E)
    in_blocks = [
        array(tensor).reshape(*tensor.shape[:-1], -1, width)
        for tensor in (xz, weights.conv_weight.t(), weights.conv_bias, A, weights.D, weights.dt_bias)
    ]
    return _Arrays(
        xz=in_blocks[0],
        conv_weights=(in_blocks[1], in_blocks[2]),
        scan_weights=(in_blocks[3], in_blocks[4], in_blocks[5]),
        window=array(window).reshape(len(window), e // width, width, window.shape[2]),
        lengths=np.full(xz.shape[0], xz.shape[1]) if lengths is None else array(lengths),
    )


class _CompiledMamba(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, xz: Tensor, *inputs: Any) -> tuple[Tensor, Tensor]:
        *parts, window, ssm, lengths = inputs
        weights = MambaWeights(*parts)
        (b, t, _), (e, n), rank = xz.shape, weights.A_log.shape, weights.dt_weight.shape[1]
        arrays = _arrays(xz, weights, window, lengths)
        blocks, width = arrays.scan_weights[1].shape
        shape = (b, t, blocks, width)

        u = xz.new_empty(b * t, e)
        on_threads(conv_silu_forward, arrays.xz, arrays.conv_weights, arrays.window, u.numpy().reshape(shape))
        xbc = u @ weights.x_proj.t()
        r = xbc[:, :rank] @ weights.dt_weight.t()
        y, last = xz.new_empty(b, t, e), xz.new_empty(b, e, n)
        chunk = CHUNK if any(ctx.needs_input_grad) else max(t, 1)
        checkpoints = np.empty((b, -(-t // chunk), n, blocks, width), dtype=arrays.xz.dtype)
        on_threads(
            scan_forward,
            (u.numpy().reshape(shape), r.numpy().reshape(shape), arrays.xz, xbc.numpy().reshape(b, t, -1)),
            arrays.scan_weights,
            (array(ssm).reshape(b, blocks, width, n), arrays.lengths),
            chunk,
            (y.numpy().reshape(shape), checkpoints, last.numpy().reshape(b, blocks, width, n)),
        )
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(u, r, xbc, weights.x_proj, weights.dt_weight)
        ctx.arrays, ctx.checkpoints = arrays, checkpoints
        return y, last

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None, grad_last: Tensor | None) -> tuple[Tensor | None, ...]:
        u, r, xbc, x_proj, dt_weight = ctx.saved_tensors
        arrays: _Arrays = ctx.arrays
        n, blocks, width = arrays.scan_weights[0].shape
        (b, t), (e, rank), count = arrays.xz.shape[:2], dt_weight.shape, num_threads()
        shape, states = (b, t, blocks, width), (b, blocks, width, n)
        grad_xz, grad_u, grad_r = u.new_empty(b, t, 2 * e), torch.empty_like(u), torch.empty_like(r)
        grad_bc, grad_ssm = u.new_empty(blocks, b * t, 2 * n), u.new_empty(b, e, n)
        grad_A, grad_D, grad_bias = (u.new_empty(count, *weight.shape) for weight in arrays.scan_weights)
        grad_y = u.new_zeros(b, t, e) if grad_y is None else grad_y
        grad_last = u.new_zeros(b, e, n) if grad_last is None else grad_last
        on_threads(
            scan_backward,
            (u.numpy().reshape(shape), r.numpy().reshape(shape), arrays.xz, xbc.numpy().reshape(b, t, -1)),
            arrays.scan_weights,
            (ctx.checkpoints, arrays.lengths),
            (array(grad_y).reshape(shape), array(grad_last).reshape(states)),
            (
                (
                    grad_u.numpy().reshape(shape),
                    grad_r.numpy().reshape(shape),
                    grad_xz.numpy().reshape(arrays.xz.shape),
                    grad_bc.numpy().reshape(blocks, b, t, 2 * n),
                ),
                (grad_A.numpy(), grad_D.numpy(), grad_bias.numpy()),
                grad_ssm.numpy().reshape(states),
            ),
        )
        # Skinny products are several times faster with their long side last.
        grad_rank = (dt_weight.t() @ grad_r.t()).t()
        grad_xbc = torch.cat([grad_rank, grad_bc[0] if blocks == 1 else grad_bc.sum(0)], dim=1)
        grad_u.addmm_(grad_xbc, x_proj)
        grad_taps, grad_conv_bias = (u.new_empty(count, *weight.shape) for weight in arrays.conv_weights)
        grad_window = u.new_empty(b, e, arrays.window.shape[3])
        on_threads(
            conv_silu_backward,
            (arrays.xz, arrays.conv_weights, arrays.window),
            grad_u.numpy().reshape(shape),
            grad_xz.numpy().reshape(arrays.xz.shape),
            (grad_taps.numpy(), grad_conv_bias.numpy()),
            grad_window.numpy().reshape(arrays.window.shape),
        )
        grad_A_log = grad_A.sum(0) * torch.from_numpy(arrays.scan_weights[0]) * (1 / LOG2_E)
        return (
            grad_xz,
            grad_taps.sum(0).flatten(1).t(),
            grad_conv_bias.sum(0).flatten(),
            grad_xbc.t() @ u,
            (xbc[:, :rank].t() @ grad_r).t(),
            grad_bias.sum(0).flatten(),
            grad_A_log.flatten(1).t(),
            grad_D.sum(0).flatten(),
            grad_window,
            grad_ssm,
            None,
        )
