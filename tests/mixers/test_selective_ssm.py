import torch
from torch.nn.functional import softplus

from recherche._rng import torch_generator
from recherche.kernels.mamba_plain import mamba_plain
from recherche.mixers.selective_ssm import MambaLayer


def test_first_steps_span_the_published_range():
    steps = softplus(MambaLayer().build(64).dt_bias)
    assert 1e-3 <= steps.min() < 3e-3
    assert 3e-2 < steps.max() <= 1e-1


def test_first_decay_rates_are_one_to_n():
    torch.testing.assert_close(MambaLayer(d_state=5).build(16).A_log.exp()[0], torch.arange(1.0, 6.0))


def test_the_mixer_is_its_projections_around_the_plain_inner_part():
    mixer = MambaLayer(d_state=3).build(16).double()
    x = torch.randn(2, 7, 16, generator=torch_generator(0, "x"), dtype=torch.float64)
    state = mixer.init_state(2)
    inner, ssm = mamba_plain(mixer.in_proj(x), mixer.weights(), state.window, state.ssm)
    y, after = mixer(x)
    torch.testing.assert_close(y, mixer.out_proj(inner), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(after.ssm, ssm, rtol=1e-12, atol=1e-12)
