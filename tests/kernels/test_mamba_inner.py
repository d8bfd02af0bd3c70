import pytest
import torch

from recherche._rng import torch_generator
from recherche.kernels.mamba_inner import mamba_inner
from recherche.kernels.mamba_plain import MambaWeights, mamba_plain


def problem(b, t, e, n, rank, taps, dtype=torch.float64):
    generator = torch_generator(0, f"{b} {t} {e}")

    def draw(*shape):
        return (torch.randn(*shape, generator=generator, dtype=torch.float64) / 2).to(dtype).requires_grad_()

    weights = MambaWeights(draw(e, taps), draw(e), draw(rank + 2 * n, e), draw(e, rank), draw(e), draw(e, n), draw(e))
    return draw(b, t, 2 * e), weights, draw(b, e, taps - 1), draw(b, e, n)


SHAPES = {
    "odd": (3, 37, 7, 5, 2, 4),
    "one token": (1, 1, 6, 3, 2, 3),
    "window longer than text": (2, 2, 10, 3, 2, 5),
    "two blocks": (1, 3, 130, 2, 1, 2),
    "no window": (2, 4, 6, 2, 1, 1),
}


def results(function, inputs, lengths, real):
    y, last = function(*inputs, lengths=lengths)
    y = y * real
    weighted = (y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)).sum() + last.sin().sum()
    xz, weights, window, ssm = inputs
    return y, last, *torch.autograd.grad(weighted, [xz, *weights, window, ssm])


@pytest.mark.parametrize(("dtype", "rtol"), [(torch.float64, 1e-10), (torch.float32, 2e-4)], ids=["float64", "float32"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("ragged", [True, False], ids=["ragged", "rectangular"])
def test_values_and_gradients_are_those_of_the_plain_path(shape, ragged, dtype, rtol):
    inputs, (b, t) = problem(*shape, dtype=dtype), shape[:2]
    lengths = torch.tensor([t, 0, t // 2][:b]) if ragged else None
    real = torch.ones(b, t, 1, dtype=dtype) if lengths is None else (torch.arange(t) < lengths[:, None])[..., None]
    fast, plain = (results(function, inputs, lengths, real) for function in (mamba_inner, mamba_plain))
    for a, c in zip(fast, plain, strict=True):
        torch.testing.assert_close(a, c, rtol=rtol, atol=rtol)


def test_the_scan_passes_gradcheck():
    xz, weights, window, ssm = problem(2, 5, 3, 2, 1, 3)
    assert torch.autograd.gradcheck(
        lambda xz, window, ssm, *parts: mamba_inner(xz, MambaWeights(*parts), window, ssm), (xz, window, ssm, *weights)
    )


def test_gradcheck_notices_a_gradient_that_is_one_per_cent_off():
    xz, weights, window, ssm = problem(2, 5, 3, 2, 1, 3)

    def off(xz):
        y, _ = mamba_inner(xz, weights, window, ssm)
        return y + 0.01 * (y - y.detach())

    assert not torch.autograd.gradcheck(off, (xz,), raise_exception=False)


def test_no_state_is_a_state_of_zeros():
    xz, weights, window, ssm = problem(2, 5, 3, 2, 1, 3)
    y, last = mamba_inner(xz, weights)
    expected, expected_last = mamba_inner(xz, weights, torch.zeros_like(window), torch.zeros_like(ssm))
    assert torch.equal(y, expected)
    assert torch.equal(last, expected_last)


def test_other_precisions_take_the_plain_path():
    inputs = problem(1, 3, 4, 2, 1, 2, dtype=torch.bfloat16)
    y, last = mamba_inner(*inputs)
    expected, expected_last = mamba_plain(*inputs)
    assert torch.equal(y, expected)
    assert torch.equal(last, expected_last)


def test_memory_kept_for_backward_does_not_hold_the_history_of_states():
    b, t, e, n = 2, 256, 32, 16
    xz, weights, window, ssm = problem(b, t, e, n, 2, 4, dtype=torch.float32)
    y, _ = mamba_inner(xz, weights, window, ssm)
    kept = sum(tensor.numel() for tensor in y.grad_fn.saved_tensors) + y.grad_fn.checkpoints.size
    assert kept < b * t * e * n / 2
