import math

import numpy as np
import pytest

from recherche._rng import numpy_generator
from recherche.kernels import reference
from recherche.kernels.bridge import on_threads
from recherche.kernels.selective_scan import CHUNK, block_width, scan_backward, scan_forward

B, BLOCKS, WIDTH, N = 3, 2, 5, 3
E = BLOCKS * WIDTH


def problem(t, dtype=np.float64):
    draw = numpy_generator(t, "scan").normal
    shape = (B, t, BLOCKS, WIDTH)
    tokens = (draw(size=shape), draw(size=shape), draw(size=(B, t, 2 * BLOCKS, WIDTH)), draw(size=(B, t, 2 + 2 * N)))
    weights = (-np.exp(draw(size=(N, BLOCKS, WIDTH))), draw(size=(BLOCKS, WIDTH)), draw(size=(BLOCKS, WIDTH)))
    state = draw(size=(B, BLOCKS, WIDTH, N))
    return [tuple(a.astype(dtype) for a in arrays) for arrays in (tokens, weights, (state,))]


def forward(tokens, weights, state, lengths, chunk=CHUNK):
    t, dtype = tokens[0].shape[1], tokens[0].dtype
    outputs = (
        np.full(tokens[0].shape, np.nan, dtype),
        np.empty((B, -(-t // chunk), N, BLOCKS, WIDTH), dtype),
        np.empty((B, BLOCKS, WIDTH, N), dtype),
    )
    on_threads(scan_forward, tokens, weights, (state, lengths), chunk, outputs)
    return outputs


def slow(tokens, weights, state, lengths):
    u, r, xz, xbc = (a.astype(np.float64).reshape(*a.shape[:2], -1) for a in tokens)
    A, D, bias = (a.astype(np.float64) for a in weights)
    dt = np.log1p(np.exp(r + bias.flatten()))
    y, last = reference.selective_scan(
        (u, dt, xbc[..., -2 * N : -N], xbc[..., -N:]),
        xz[..., -E:],
        A.reshape(N, E).T * math.log(2),
        D.flatten(),
        state.reshape(B, E, N).astype(np.float64),
        lengths=lengths,
    )
    return y, last


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)], ids=["float64", "float32"])
@pytest.mark.parametrize("t", [1, CHUNK, 2 * CHUNK + 3])
def test_forward_is_the_slow_loop(t, dtype, tolerance):
    tokens, weights, (state,) = problem(t, dtype)
    lengths = np.array([t, 0, t // 2])
    y, _, last = forward(tokens, weights, state, lengths)
    expected_y, expected_last = slow(tokens, weights, state, lengths)
    np.testing.assert_allclose(y.reshape(B, t, E), expected_y, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(last.reshape(B, E, N), expected_last, rtol=tolerance, atol=tolerance)


def test_kept_states_are_those_at_chunk_starts():
    tokens, weights, (state,) = problem(2 * CHUNK + 3)
    _, kept, _ = forward(tokens, weights, state, np.full(B, 2 * CHUNK + 3))
    _, _, after_first = forward(tuple(a[:, :CHUNK].copy() for a in tokens), weights, state, np.full(B, CHUNK))
    np.testing.assert_array_equal(kept[:, 0], state.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(kept[:, 1], after_first.transpose(0, 3, 1, 2))


def gradients(tokens, weights, state, lengths, grads_in, num_threads=1):
    _, kept, _ = forward(tokens, weights, state, lengths)
    t = tokens[0].shape[1]
    grads_tokens = (*(np.full_like(a, np.nan) for a in tokens[:3]), np.empty((BLOCKS, B, t, 2 * N)))
    grads_weights = tuple(np.empty((num_threads, *a.shape)) for a in weights)
    grads = (grads_tokens, grads_weights, np.empty_like(state))
    for thread in range(num_threads):
        scan_backward(thread, num_threads, tokens, weights, (kept, lengths), grads_in, grads)
    return grads


def test_backward_is_the_slope_of_the_slow_loop():
    t, draw = CHUNK + 3, numpy_generator(9, "scan").normal
    tokens, weights, (state,) = problem(t)
    lengths = np.array([t, 2, 0])
    grad_y, grad_last = draw(size=tokens[0].shape), draw(size=state.shape)
    (grad_u, grad_r, grad_xz, grad_bc), (grad_A, grad_D, grad_bias), grad_state = gradients(
        tokens, weights, state, lengths, (grad_y, grad_last)
    )
    grad_xbc = np.concatenate([np.zeros((B, t, 2)), grad_bc.sum(0)], axis=-1)
    grad_xz[:, :, :BLOCKS] = 0
    # The weight handed over is A log2(e).
    pairs = zip(
        (*tokens, *weights, state),
        (grad_u, grad_r, grad_xz, grad_xbc, grad_A[0] * math.log(2), grad_D[0], grad_bias[0], grad_state),
        strict=True,
    )

    def loss():
        y, last = slow(tokens, weights, state, lengths)
        return (y * grad_y.reshape(y.shape)).sum() + (last * grad_last.reshape(last.shape)).sum()

    step = 1e-6
    for array, grad in pairs:
        for index in list(np.ndindex(array.shape))[:: max(1, array.size // 12)]:
            before = array[index]
            array[index] = before + step
            high = loss()
            array[index] = before - step
            low = loss()
            array[index] = before
            assert (high - low) / (2 * step) == pytest.approx(grad[index], rel=2e-5, abs=1e-6)


def test_threads_share_the_work():
    tokens, weights, (state,) = problem(CHUNK + 1)
    lengths, grads_in = np.array([CHUNK + 1, 3, 0]), (np.ones_like(tokens[0]), np.ones_like(state))
    alone = gradients(tokens, weights, state, lengths, grads_in)
    shared = gradients(tokens, weights, state, lengths, grads_in, num_threads=4)
    np.testing.assert_array_equal(shared[0][1], alone[0][1])
    np.testing.assert_allclose(shared[1][0].sum(0), alone[1][0][0], rtol=1e-12)


@pytest.mark.parametrize(("channels", "width"), [(128, 128), (256, 128), (10, 10), (131, 131), (192, 96)])
def test_blocks_divide_the_channels(channels, width):
    assert block_width(channels) == width
