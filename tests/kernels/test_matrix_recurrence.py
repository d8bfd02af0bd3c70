"""The node around the loops: with loops that note what they are given, and what all pairs of real loops must do."""

import numpy as np
import pytest
import torch

from recherche.kernels.decayed_recurrence import recur_backward, recur_forward
from recherche.kernels.delta_recurrence import delta_backward, delta_forward
from recherche.kernels.matrix_recurrence import CHUNK, matrix_recurrence
from tests.kernels.recurrences import DECAY, STRENGTH, B, H, K, M, problem

T = 2 * CHUNK + 5
RECURRENCES = {
    "decayed": ((recur_forward, recur_backward), [(K, *DECAY[1:])]),
    "delta": ((delta_forward, delta_backward), [STRENGTH, DECAY]),
}


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr("recherche.kernels.bridge.num_threads", lambda: 1)
    return {}


@pytest.fixture
def loops(seen):
    def forward(thread, count, tokens, start, chunk, outputs):
        seen["layout"] = [(part.shape, part.flags.c_contiguous) for part in tokens]
        seen["chunk"], seen["kept"] = chunk, outputs[1].shape
        outputs[0][:] = tokens[2]
        outputs[1][:] = 7.0
        outputs[2][:] = start

    def backward(thread, count, tokens, kept, grads_in, grads_out):
        seen["kept values"] = set(kept.ravel().tolist())
        for place, grad in enumerate(grads_out[0]):
            grad[:] = place
        grads_out[1][:] = grads_in[1]

    return forward, backward


def inputs():
    tokens = torch.randn(B, H, T, K), torch.randn(B, H, T, K), torch.randn(B, H, T, M)
    return tuple(part.requires_grad_() for part in tokens), torch.randn(B, H, K, M, requires_grad=True)


def test_tokens_come_before_heads_and_gradients_go_where_they_belong(loops, seen):
    tokens, state = inputs()
    y, last = matrix_recurrence(loops, tokens, state)
    assert torch.equal(y, tokens[2])
    assert torch.equal(last, state)
    assert seen["layout"] == [((B, T, H, size), True) for size in (K, K, M)]
    (y.sum() + 3 * last.sum()).backward()
    assert [part.grad.unique().tolist() for part in (*tokens, state)] == [[0.0], [1.0], [2.0], [3.0]]


def test_states_are_kept_for_the_way_back_and_only_for_it(loops, seen):
    tokens, state = inputs()
    y, _ = matrix_recurrence(loops, tokens, state)
    assert (seen["chunk"], seen["kept"]) == (CHUNK, (B, H, 3, K, M))
    y.sum().backward()
    assert seen["kept values"] == {7.0}
    matrix_recurrence(loops, tuple(part.detach() for part in tokens), state.detach())
    assert (seen["chunk"], seen["kept"]) == (T, (B, H, 1, K, M))


@pytest.mark.parametrize(("loops", "gates"), RECURRENCES.values(), ids=RECURRENCES)
def test_without_gradients_nothing_else_changes(loops, gates):
    *tokens, start = problem(5, *gates)
    with torch.no_grad():
        y, state = matrix_recurrence(loops, tuple(tokens), start)
    expected = matrix_recurrence(loops, tuple(tokens), start)
    assert torch.equal(y, expected[0])
    assert torch.equal(state, expected[1])


@pytest.mark.parametrize(("loops", "gates"), RECURRENCES.values(), ids=RECURRENCES)
def test_threads_share_the_work(loops, gates):
    """Each of two threads fills its own rows and heads; one alone leaves some out."""
    forward, backward = loops
    *tokens, start = (part.detach().numpy() for part in problem(5, *gates))
    tokens = tuple(np.ascontiguousarray(part.swapaxes(1, 2)) for part in tokens)
    y, kept, last = np.full(tokens[2].shape, np.nan), np.empty((B, H, 1, K, M)), np.full(start.shape, np.nan)
    grads = tuple(np.full(part.shape, np.nan) for part in tokens), np.full(start.shape, np.nan)
    for thread, done in ((0, False), (1, True)):
        forward(thread, 2, tokens, start, CHUNK, (y, kept, last))
        backward(thread, 2, tokens, kept, (np.ones(y.shape), np.ones(last.shape)), grads)
        assert bool(np.isfinite(y).all()) == bool(np.isfinite(last).all()) == done
        assert all(bool(np.isfinite(grad).all()) == done for grad in (*grads[0], grads[1]))
