import pytest
import torch
from torch.nn.functional import normalize

from recherche._rng import torch_generator
from recherche.kernels.delta_rule import delta_rule, in_chunks

B, H, K, M = 2, 3, 4, 5


def problem(t):
    generator = torch_generator(t, "delta")

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    parts = (
        draw(B, H, t, K),
        normalize(draw(B, H, t, K), dim=-1),
        draw(B, H, t, M),
        draw(B, H, t, 1).sigmoid(),
        -draw(B, H, t, 1).exp(),
        draw(B, H, K, M),
    )
    return tuple(part.requires_grad_() for part in parts)


def token_by_token(q, k, v, write, log_decay, state):
    """Decay, look up what is held under k, move it towards v."""
    outputs = []
    for i in range(q.shape[2]):
        state = log_decay[:, :, i, :, None].exp() * state
        held = torch.einsum("bhk,bhkm->bhm", k[:, :, i], state)
        change = write[:, :, i] * (v[:, :, i] - held)
        state = state + k[:, :, i, :, None] * change[:, :, None]
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], state))
    return torch.stack(outputs, dim=2), state


@pytest.mark.parametrize("form", [delta_rule, in_chunks])
@pytest.mark.parametrize("t", [1, 32, 37, 70])
def test_every_form_is_the_recurrence_in_values_and_gradients(t, form):
    inputs = problem(t)
    results = []
    for function in (lambda q, k, v, *gates, state: form(q, k, v, gates, state), token_by_token):
        y, state = function(*inputs[:-1], state=inputs[-1])
        results.append((y, state, *torch.autograd.grad(y.sin().sum() + state.sin().sum(), inputs)))
    for a, c in zip(*results, strict=True):
        torch.testing.assert_close(a, c, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("form", [delta_rule, in_chunks])
def test_a_full_write_is_read_back(form):
    key = normalize(torch.ones(1, 1, 1, K), dim=-1)
    value = torch.arange(1.0, 1 + M).view(1, 1, 1, M)
    y, _ = form(key, key, value, (torch.ones(1, 1, 1, 1), torch.zeros(1, 1, 1, 1)), torch.ones(1, 1, K, M))
    torch.testing.assert_close(y, value)


def test_large_heads_go_in_chunks():
    key, value = normalize(torch.ones(1, 1, 3, 128), dim=-1), torch.ones(1, 1, 3, 128)
    gates, state = (torch.full((1, 1, 3, 1), 0.5), torch.full((1, 1, 3, 1), -0.1)), torch.ones(1, 1, 128, 128)
    both = (form(key, key, value, gates, state) for form in (delta_rule, in_chunks))
    for mine, slow in zip(*both, strict=True):
        assert torch.equal(mine, slow)
