"""The inner part of a Mamba block by mamba_ssm's kernel, for a GPU where that package is installed.

Its scan starts from an empty state and knows no padding, so it serves training and the reading of whole prompts of
equal length; everything else takes the plain path. The package is looked for at the first use, never at import.

Reference: Gu & Dao (2023), Mamba, Section 3.3, https://arxiv.org/abs/2312.00752;
https://github.com/state-spaces/mamba/blob/main/mamba_ssm/ops/selective_scan_interface.py
"""

from collections.abc import Callable
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import conv1d, linear, pad, silu

from recherche.kernels.mamba_plain import MambaWeights

Scan = Callable[..., tuple[Tensor, Tensor]]


@cache
def installed_scan() -> Scan | None:
    """mamba_ssm's selective scan, or None where it is not installed."""
    try:
        from mamba_ssm.ops.selective_scan_interface import selective_scan_fn
    except ImportError:
        return None
    scan: Scan = selective_scan_fn
    return scan


def mamba_fused(
    xz: Float[Tensor, "b t two_e"], weights: MambaWeights, scan: Scan
) -> tuple[Float[Tensor, "b t e"], Float[Tensor, "b e n"]]:
    """Outputs before the last projection, and the last SSM state, from an empty state."""
    (e, n), (_, taps), rank = weights.A_log.shape, weights.conv_weight.shape, weights.dt_weight.shape[1]
    x, z = xz.mT.chunk(2, dim=1)
    u = silu(conv1d(pad(x, (taps - 1, 0)), weights.conv_weight[:, None], weights.conv_bias, groups=e))
    dt, B, C = linear(u.mT, weights.x_proj).split((rank, n, n), dim=-1)
    y, last = scan(
        u,
        linear(dt, weights.dt_weight).mT.contiguous(),
        -torch.exp(weights.A_log.float()),
        B.mT.contiguous(),
        C.mT.contiguous(),
        weights.D.float(),
        z=z.contiguous(),
        delta_bias=weights.dt_bias.float(),
        delta_softplus=True,
        return_last_state=True,
    )
    return y.mT, last
