import numpy as np
import pytest

from recherche._rng import numpy_generator
from recherche.kernels.bridge import on_threads
from recherche.kernels.causal_conv import conv_silu_backward, conv_silu_forward
from recherche.kernels.reference import causal_conv_silu

B, T, BLOCKS, WIDTH = 2, 7, 3, 5


def problem(taps):
    draw = numpy_generator(0, "conv").normal
    x, weight, bias = draw(size=(B, T, 2 * BLOCKS, WIDTH)), draw(size=(taps, BLOCKS, WIDTH)), draw(size=(BLOCKS, WIDTH))
    return x, (weight, bias), draw(size=(B, BLOCKS, WIDTH, taps - 1))


def forward(x, weights, window):
    u = np.empty((B, T, BLOCKS, WIDTH))
    on_threads(conv_silu_forward, x, weights, window, u)
    return u


def backward(x, weights, window, grad_u, num_threads=1):
    grads = np.full_like(x, np.nan), tuple(np.empty((num_threads, *w.shape)) for w in weights), np.empty_like(window)
    for thread in range(num_threads):
        conv_silu_backward(thread, num_threads, (x, weights, window), grad_u, *grads)
    return grads


@pytest.mark.parametrize("taps", [1, 2, 4, 9])
def test_forward_is_the_slow_loop(taps):
    x, weights, window = problem(taps)
    flat = x[:, :, :BLOCKS].reshape(B, T, -1)
    expected = causal_conv_silu(
        flat, weights[0].reshape(taps, -1).T, weights[1].flatten(), window.reshape(B, BLOCKS * WIDTH, taps - 1)
    )
    np.testing.assert_allclose(forward(x, weights, window).reshape(B, T, -1), expected, rtol=1e-12)


@pytest.mark.parametrize("taps", [1, 4, 9])
def test_backward_is_the_slope_of_forward(taps):
    x, weights, window = problem(taps)
    grad_u = numpy_generator(1, "conv").normal(size=(B, T, BLOCKS, WIDTH))
    grad_x, (grad_taps, grad_bias), grad_window = backward(x, weights, window, grad_u)
    step = 1e-6
    inputs = (x, weights[0], weights[1], window)
    for array, grad in zip(inputs, (grad_x, grad_taps[0], grad_bias[0], grad_window), strict=True):
        for index in list(np.ndindex(array.shape))[:: max(1, array.size // 20)]:
            if array is x and index[2] >= BLOCKS:
                continue
            before = array[index]
            array[index] = before + step
            high = (forward(x, weights, window) * grad_u).sum()
            array[index] = before - step
            low = (forward(x, weights, window) * grad_u).sum()
            array[index] = before
            assert (high - low) / (2 * step) == pytest.approx(grad[index], rel=1e-5, abs=1e-7)


def test_only_the_input_blocks_get_a_gradient():
    x, weights, window = problem(4)
    grad_x, _, _ = backward(x, weights, window, np.ones((B, T, BLOCKS, WIDTH)))
    assert np.isfinite(grad_x[:, :, :BLOCKS]).all()
    assert np.isnan(grad_x[:, :, BLOCKS:]).all()


def test_threads_share_the_work():
    x, weights, window = problem(4)
    grad_u = np.ones((B, T, BLOCKS, WIDTH))
    alone, shared = backward(x, weights, window, grad_u), backward(x, weights, window, grad_u, num_threads=4)
    np.testing.assert_allclose(shared[1][0].sum(0), alone[1][0][0], rtol=1e-12)
    np.testing.assert_array_equal(shared[2], alone[2])
