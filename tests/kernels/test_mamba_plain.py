import numpy as np
import torch
from torch.nn.functional import softplus

from recherche._rng import torch_generator
from recherche.kernels import reference
from recherche.kernels.mamba_plain import MambaWeights, mamba_plain

B, T, E, N, RANK, TAPS = 2, 6, 4, 3, 2, 3


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch_generator(seed, str(shape)), dtype=torch.float64)


def weights():
    return MambaWeights(
        draw(E, TAPS), draw(E), draw(RANK + 2 * N, E), draw(E, RANK), draw(E, seed=1), draw(E, N), draw(E, seed=2)
    )


def test_the_plain_path_is_the_slow_loops():
    w, xz, window, ssm = weights(), draw(B, T, 2 * E), draw(B, E, TAPS - 1), draw(B, E, N)
    lengths = torch.tensor([T, 2])
    y, last = mamba_plain(xz, w, window, ssm, lengths=lengths)
    x, z = xz.chunk(2, dim=-1)
    u = reference.causal_conv_silu(*(a.numpy() for a in (x, w.conv_weight, w.conv_bias, window)))
    dt, B_, C = np.split(u @ w.x_proj.numpy().T, [RANK, RANK + N], axis=-1)
    dt = softplus(torch.from_numpy(dt @ w.dt_weight.numpy().T) + w.dt_bias).numpy()
    expected, expected_last = reference.selective_scan(
        (u, dt, B_, C), z.numpy(), -w.A_log.exp().numpy(), w.D.numpy(), ssm.numpy(), lengths=lengths.numpy()
    )
    np.testing.assert_allclose(y[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(y[1, :2], expected[1, :2], rtol=1e-12)
    np.testing.assert_allclose(last, expected_last, rtol=1e-12)
