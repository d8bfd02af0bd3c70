import pytest
import torch
from torch.nn.functional import softplus

from recherche._rng import torch_generator
from recherche.kernels.mamba_plain import mamba_plain
from recherche.mixers.selective_ssm import MambaLayer, last_inputs


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


@pytest.mark.parametrize("t", [1, 2, 3, 5])
def test_the_window_holds_the_last_inputs(t):
    window, x = torch.arange(3.0).view(1, 1, 3), torch.arange(3.0, 3.0 + t).view(1, t, 1)
    assert last_inputs(window, x, None).flatten().tolist() == [t, t + 1.0, t + 2.0]


def test_the_window_of_a_padded_row_ends_at_its_last_real_token():
    window, x = torch.arange(3.0).expand(3, 1, 3), torch.arange(3.0, 8.0).view(1, 5, 1).expand(3, 5, 1)
    ends = last_inputs(window, x, torch.tensor([0, 2, 5]))
    assert ends.squeeze(1).tolist() == [[0, 1, 2], [2, 3, 4], [5, 6, 7]]
