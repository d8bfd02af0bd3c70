import pytest
import torch
from torch.nn.functional import rms_norm, silu, softplus

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.mamba2 import Mamba2Layer


def test_it_is_the_recurrence_of_the_paper():
    mixer = Mamba2Layer(d_state=3, expand=1, n_heads=4, n_groups=2, d_conv=2).build(8).double()
    x = torch.randn(2, 11, 8, generator=torch_generator(0, "x"), dtype=torch.float64)
    z, mixed, dt = mixer.in_proj(x).split((8, 8 + 2 * 2 * 3, 4), dim=-1)
    mixed, _ = mixer.convolution(mixed, mixer.init_state(2).window, None)
    u, B, C = silu(mixed).split((8, 6, 6), dim=-1)
    dt = softplus(dt + mixer.dt_bias)
    state, outputs = torch.zeros(2, 4, 3, 2, dtype=torch.float64), []
    for i in range(11):
        heads = u[:, i].view(2, 4, 2)
        B_i, C_i = (part[:, i].view(2, 2, 3).repeat_interleave(2, dim=1) for part in (B, C))
        decay = torch.exp(-mixer.A_log.exp() * dt[:, i])[..., None, None]
        state = decay * state + B_i[..., None] * (dt[:, i, :, None] * heads)[:, :, None]
        outputs.append((torch.einsum("bhn,bhnp->bhp", C_i, state) + mixer.D[:, None] * heads).flatten(1))
    gated = torch.stack(outputs, dim=1) * silu(z)
    normed = torch.cat([rms_norm(group, (4,), eps=1e-5) for group in gated.chunk(2, dim=-1)], dim=-1)
    expected = mixer.out_proj(normed * mixer.norm_weight)
    torch.testing.assert_close(mixer(x)[0], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (Mamba2Layer(n_heads=5), "Mamba-2 needs n_heads that divide its width 16, got 5"),
        (Mamba2Layer(n_groups=3), "needs n_groups that divide n_heads=4, got 3"),
    ],
)
def test_heads_and_groups_must_divide(layer, message):
    with pytest.raises(ConfigError, match=message):
        layer.build(8)
