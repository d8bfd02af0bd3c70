"""The inner part of a Mamba block in plain torch operations: any device, any dtype, differentiable.

    x, z = halves of xz
    u    = silu(conv(x))                          causal, depthwise
    dt   = softplus(W_dt dt' + b),  dt', B, C = parts of W_x u
    h_t  = exp(dt_t A) h_{t-1} + dt_t B_t u_t     A = -exp(A_log)
    y_t  = (C_t . h_t + D u_t) silu(z_t)

It is the path for a GPU without mamba_ssm; on a CPU the compiled `mamba_inner` replaces it.

Reference: Gu & Dao (2023), Mamba, Algorithm 2 and Figure 3, https://arxiv.org/abs/2312.00752
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import conv1d, linear, silu, softplus


class MambaWeights(NamedTuple):
    """What lies between a Mamba block's two outer projections; d channels, n state, r rank of dt, k taps."""

    conv_weight: Float[Tensor, "d k"]
    conv_bias: Float[Tensor, " d"]
    x_proj: Float[Tensor, "m d"]
    dt_weight: Float[Tensor, "d r"]
    dt_bias: Float[Tensor, " d"]
    A_log: Float[Tensor, "d n"]
    D: Float[Tensor, " d"]


def mamba_plain(
    xz: Float[Tensor, "b t two_d"],
    weights: MambaWeights,
    window: Float[Tensor, "b d w"],
    ssm: Float[Tensor, "b d n"],
    *,
    lengths: Int[Tensor, " b"] | None = None,
) -> tuple[Float[Tensor, "b t d"], Float[Tensor, "b d n"]]:
    """Outputs before the last projection, and the SSM state after the last real token of each row."""
    d, n = weights.A_log.shape
    x, z = xz.chunk(2, dim=-1)
    padded = torch.cat([window, x.mT], dim=-1)
    u = silu(conv1d(padded, weights.conv_weight[:, None], weights.conv_bias, groups=d)).mT
    dt, B, C = linear(u, weights.x_proj).split((weights.dt_weight.shape[1], n, n), dim=-1)
    dt = softplus(linear(dt, weights.dt_weight, weights.dt_bias))
    if lengths is not None:
        # A time step of 0 leaves the state as it is: exp(0) h + 0.
        dt = dt.masked_fill((torch.arange(x.shape[1], device=x.device) >= lengths[:, None])[..., None], 0.0)
    decay = torch.exp(dt[..., None] * -torch.exp(weights.A_log))
    drive = (dt * u)[..., None] * B[:, :, None]
    outputs = []
    for decay_t, drive_t, C_t in zip(decay.unbind(1), drive.unbind(1), C.unbind(1), strict=True):
        ssm = decay_t * ssm + drive_t
        outputs.append((ssm * C_t[:, None]).sum(-1))
    return (torch.stack(outputs, dim=1) + weights.D * u) * silu(z), ssm
