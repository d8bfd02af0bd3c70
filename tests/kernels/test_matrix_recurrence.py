"""The node around the loops, with loops that note what they are given; the real ones have tests of their own."""

import pytest
import torch

from recherche.kernels.matrix_recurrence import CHUNK, matrix_recurrence

B, H, T, K, M = 2, 3, 2 * CHUNK + 5, 4, 5


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
