import pytest
import torch
from torch.autograd.gradcheck import GradcheckError

from recherche._rng import torch_generator
from recherche.kernels.rms_norm import rms_norm


def draw(*shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch_generator(0, "norm"), dtype=dtype).requires_grad_()


@pytest.mark.parametrize("shape", [(7,), (3, 7), (2, 3, 64), (1, 1, 1)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_values_are_those_of_torch(shape, dtype):
    x, weight = draw(*shape, dtype=dtype), draw(shape[-1], dtype=dtype)
    expected = torch.nn.functional.rms_norm(x, weight.shape, weight, 1e-5)
    torch.testing.assert_close(rms_norm(x, weight, eps=1e-5), expected)


@pytest.mark.parametrize("shape", [(3, 7), (2, 3, 8)])
def test_gradients_are_right(shape):
    assert torch.autograd.gradcheck(lambda x, w: rms_norm(x, w, eps=1e-3), (draw(*shape), draw(shape[-1])))


def test_a_wrong_gradient_would_be_seen():
    x, weight = draw(3, 7), draw(7)
    with pytest.raises(GradcheckError):
        torch.autograd.gradcheck(lambda x, w: rms_norm(x, w.detach(), eps=1e-3) + 0 * w.sum(), (x, weight))


def test_threads_share_the_tokens_without_loss():
    x, weight = draw(13, 8), draw(8)
    rms_norm(x, weight, eps=1e-5).square().sum().backward()
    expected = torch.autograd.grad(torch.nn.functional.rms_norm(x, (8,), weight, 1e-5).square().sum(), weight)[0]
    torch.testing.assert_close(weight.grad, expected)


def test_a_strided_input_is_read_as_it_is():
    x, weight = draw(8, 5), draw(8)
    torch.testing.assert_close(rms_norm(x.t(), weight, eps=1e-5), rms_norm(x.t().contiguous(), weight, eps=1e-5))
