import pytest
import torch

from recherche._rng import torch_generator
from recherche.kernels.decayed_attention import decayed_attention, in_chunks, pairwise_decay

B, H, K, M = 2, 3, 4, 5


def problem(t, rows, strength=1.0):
    generator = torch_generator(t, "decayed")

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()

    log_decay = (-strength * draw(B, H, t, rows).detach().exp()).requires_grad_()
    return draw(B, H, t, K), draw(B, H, t, K), draw(B, H, t, M), log_decay, draw(B, H, K, M)


def token_by_token(q, k, v, log_decay, state):
    outputs = []
    for i in range(q.shape[2]):
        state = log_decay[:, :, i, :, None].exp() * state + k[:, :, i, :, None] * v[:, :, i, None]
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], state))
    return torch.stack(outputs, dim=2), state


@pytest.mark.parametrize("form", [decayed_attention, in_chunks])
@pytest.mark.parametrize("rows", [1, K])
@pytest.mark.parametrize("t", [1, 16, 37, 70])
def test_every_form_is_the_recurrence_in_values_and_gradients(t, rows, form):
    inputs = problem(t, rows)
    results = []
    for function in (form, token_by_token):
        y, state = function(*inputs)
        results.append((y, state, *torch.autograd.grad(y.sin().sum() + state.sin().sum(), inputs)))
    for a, c in zip(*results, strict=True):
        torch.testing.assert_close(a, c, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("form", [decayed_attention, in_chunks])
@pytest.mark.parametrize("rows", [1, K])
def test_strong_decay_does_not_overflow(rows, form):
    inputs = problem(40, rows, strength=1e4)
    y, state = form(*inputs)
    gradients = torch.autograd.grad(y.sum() + state.sum(), inputs)
    assert all(torch.isfinite(part).all() for part in (y, state, *gradients))


def test_the_future_has_no_weight():
    decay = pairwise_decay(torch.tensor([-1.0, -3.0]).view(1, 1, 2, 1))
    torch.testing.assert_close(decay[0, 0], torch.tensor([[0.0, 0.0], [-2.0, 0.0]]).exp().tril())


def test_large_heads_with_one_decay_go_in_chunks():
    q, v = torch.ones(1, 1, 3, 128), torch.ones(1, 1, 3, 128)
    log_decay, state = torch.full((1, 1, 3, 1), -0.1), torch.ones(1, 1, 128, 128)
    for mine, slow in zip(
        decayed_attention(q, q, v, log_decay, state), in_chunks(q, q, v, log_decay, state), strict=True
    ):
        assert torch.equal(mine, slow)
