import numpy as np
import pytest
import torch

from recherche._rng import torch_generator
from recherche.kernels.decayed_recurrence import decayed_recurrence, recur_backward, recur_forward
from recherche.kernels.matrix_recurrence import CHUNK

B, H, K, M = 2, 3, 4, 5


def problem(t, rows=1):
    generator = torch_generator(t, "recurrence")

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    gates = (0.2 + 0.7 * draw(B, H, t, rows).sigmoid(),)
    parts = (draw(B, H, t, K), 0.5 * draw(B, H, t, K), draw(B, H, t, M), *gates, draw(B, H, K, M))
    return tuple(part.requires_grad_() for part in parts)


def by_definition(q, k, v, decay, state):
    outputs = []
    for i in range(q.shape[2]):
        state = decay[:, :, i, :, None] * state + k[:, :, i, :, None] * v[:, :, i, None]
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], state))
    return torch.stack(outputs, dim=2), state


@pytest.mark.parametrize(("t", "rows"), [(1, 1), (CHUNK, 1), (2 * CHUNK + 5, K), (2 * CHUNK + 5, 1)])
def test_it_is_its_equation_in_values_and_gradients(t, rows):
    inputs = problem(t, rows)
    results = []
    for function in (decayed_recurrence, by_definition):
        y, state = function(*inputs)
        results.append((y, state, *torch.autograd.grad(y.sin().sum() + state.sin().sum(), inputs)))
    for ours, slow in zip(*results, strict=True):
        torch.testing.assert_close(ours, slow, rtol=1e-11, atol=1e-11)


def test_gradients_are_those_of_small_changes():
    assert torch.autograd.gradcheck(decayed_recurrence, problem(5, K))


def test_without_gradients_nothing_else_changes():
    inputs = problem(5, K)
    with torch.no_grad():
        y, state = decayed_recurrence(*inputs)
    expected = decayed_recurrence(*inputs)
    assert torch.equal(y, expected[0])
    assert torch.equal(state, expected[1])


def test_threads_share_the_work():
    """Each of two threads fills its own rows and heads; one alone leaves some out."""
    *tokens, start = (part.detach().numpy() for part in problem(5, K))
    tokens = tuple(np.ascontiguousarray(part.swapaxes(1, 2)) for part in tokens)
    y, kept, last = np.full(tokens[2].shape, np.nan), np.empty((B, H, 1, K, M)), np.full(start.shape, np.nan)
    grads = tuple(np.full(part.shape, np.nan) for part in tokens), np.full(start.shape, np.nan)
    for thread, done in ((0, False), (1, True)):
        recur_forward(thread, 2, tokens, start, CHUNK, (y, kept, last))
        recur_backward(thread, 2, tokens, kept, (np.ones(y.shape), np.ones(last.shape)), grads)
        assert bool(np.isfinite(y).all()) == bool(np.isfinite(last).all()) == done
        assert all(bool(np.isfinite(grad).all()) == done for grad in (*grads[0], grads[1]))
