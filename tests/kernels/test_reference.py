import numpy as np
import pytest
import torch

from recherche._rng import numpy_generator
from recherche.kernels.reference import causal_conv_silu, selective_scan, sigmoid


def test_sigmoid_is_a_half_at_zero():
    assert sigmoid(np.zeros(1))[0] == 0.5


def test_the_convolution_is_torchs():
    draw = numpy_generator(0, "conv").normal
    x, taps, bias, window = draw(size=(2, 6, 3)), draw(size=(3, 4)), draw(size=3), draw(size=(2, 3, 3))
    padded = torch.cat([torch.from_numpy(window), torch.from_numpy(x).mT], dim=2)
    y = torch.nn.functional.conv1d(padded, torch.from_numpy(taps)[:, None], torch.from_numpy(bias), groups=3)
    np.testing.assert_allclose(causal_conv_silu(x, taps, bias, window), torch.nn.functional.silu(y).mT, rtol=1e-12)


def test_a_scan_without_decay_is_a_running_sum():
    """A = 0, B = C = 1, D = 0 and a gate of silu(z): y_t is silu(z_t) times the sum of dt u."""
    u, dt = np.arange(1.0, 6.0).reshape(1, 5, 1), np.full((1, 5, 1), 0.5)
    ones, z = np.ones((1, 5, 1)), np.full((1, 5, 1), 2.0)
    y, last = selective_scan(
        (u, dt, ones, ones), z, np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1, 1)), lengths=np.array([4])
    )
    gate = 2.0 / (1 + np.exp(-2.0))
    np.testing.assert_allclose(y.flatten(), [0.5 * gate, 1.5 * gate, 3 * gate, 5 * gate, 0])
    assert last.item() == pytest.approx(5)
