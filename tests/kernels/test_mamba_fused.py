import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from torch.nn.functional import softplus

from recherche._rng import torch_generator
from recherche.kernels import reference
from recherche.kernels.mamba_fused import installed_scan, mamba_fused
from recherche.kernels.mamba_plain import MambaWeights, mamba_plain

B, T, E, N, RANK, TAPS = 2, 6, 4, 3, 2, 3


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch_generator(seed, str(shape)))


def scan_as_documented(
    u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, return_last_state=False
):
    """selective_scan_fn by its documentation: u, delta, z (b e t); B, C (b n t); A (e n); D, delta_bias (e)."""
    assert delta_softplus
    assert return_last_state
    dt = softplus(delta + delta_bias[:, None])
    tokens = tuple(part.mT.double().numpy() for part in (u, dt, B, C))
    start, lengths = np.zeros((u.shape[0], *A.shape)), np.full(u.shape[0], u.shape[2])
    y, last = reference.selective_scan(tokens, z.mT.double().numpy(), A.numpy(), D.numpy(), start, lengths=lengths)
    return torch.from_numpy(y).mT.float(), torch.from_numpy(last).float()


@pytest.fixture
def fresh_lookup():
    installed_scan.cache_clear()
    yield
    installed_scan.cache_clear()


def test_the_kernel_is_given_what_its_documentation_asks_for():
    weights = MambaWeights(
        draw(E, TAPS), draw(E), draw(RANK + 2 * N, E), draw(E, RANK), draw(E, seed=1), draw(E, N), draw(E, seed=2)
    )
    xz = draw(B, T, 2 * E)
    y, last = mamba_fused(xz, weights, scan_as_documented)
    expected, expected_last = mamba_plain(xz, weights, torch.zeros(B, E, TAPS - 1), torch.zeros(B, E, N))
    torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(last, expected_last, rtol=1e-4, atol=1e-5)


def test_without_the_package_there_is_no_kernel(monkeypatch, fresh_lookup):
    monkeypatch.setitem(sys.modules, "mamba_ssm", None)
    assert installed_scan() is None


def test_with_the_package_its_kernel_is_found(monkeypatch, fresh_lookup):
    names = ("mamba_ssm", "mamba_ssm.ops", "mamba_ssm.ops.selective_scan_interface")
    for name in names:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules[names[-1]].selective_scan_fn = scan_as_documented
    assert installed_scan() is scan_as_documented
