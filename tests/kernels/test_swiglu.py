import pytest
import torch

from recherche._rng import torch_generator
from recherche.kernels.swiglu import swiglu


def draw(*shape, dtype=torch.float64):
    return (3 * torch.randn(*shape, generator=torch_generator(0, "gate"), dtype=dtype)).requires_grad_()


@pytest.mark.parametrize("shape", [(2,), (3, 14), (2, 3, 64)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_values_are_those_of_torch(shape, dtype):
    x = draw(*shape, dtype=dtype)
    gate, up = x.chunk(2, dim=-1)
    torch.testing.assert_close(swiglu(x), torch.nn.functional.silu(gate) * up)


def test_gradients_are_right():
    assert torch.autograd.gradcheck(swiglu, (draw(2, 3, 10),))


def test_gate_and_value_are_not_interchangeable():
    x = draw(3, 14)
    assert not torch.allclose(swiglu(x), swiglu(x.flip(-1)).flip(-1))


@pytest.mark.parametrize("gate", [-200.0, 200.0, 0.0])
def test_far_gates_stay_finite(gate):
    x = torch.tensor([[gate, 2.0]], requires_grad=True)
    y = swiglu(x)
    y.sum().backward()
    torch.testing.assert_close(y, torch.nn.functional.silu(torch.tensor([[gate]])) * 2.0)
    assert torch.isfinite(x.grad).all()
