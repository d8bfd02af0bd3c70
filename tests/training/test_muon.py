import pytest
import torch
from torch import nn

from recherche._rng import torch_generator
from recherche.training.muon import Matrix, Muon, orthogonalise


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch_generator(seed, "muon"), dtype=torch.float64)


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 4, 16), (3, 16, 4), (2, 64, 128)])
def test_orthogonalise_keeps_singular_vectors_and_flattens_singular_values(shape):
    x = random(*shape)
    left, _, right = torch.linalg.svd(x, full_matrices=False)
    rotated = left.mT @ orthogonalise(x) @ right.mT
    values = rotated.diagonal(dim1=-2, dim2=-1)
    assert torch.allclose(rotated, torch.diag_embed(values), atol=1e-9)
    assert values.max() < 1.3
    assert values[..., : min(shape[-2:]) - 1].min() > 0.3


def test_the_identity_would_not_pass_for_orthogonalised():
    x = random(1, 8, 8)
    assert torch.linalg.svdvals(x).max() > 2


def test_a_step_follows_nesterov_momentum():
    weight = nn.Parameter(random(4, 6))
    before = weight.detach().clone()
    gradients = [random(4, 6, seed=1), random(4, 6, seed=2)]
    optimizer = Muon([Matrix(weight, (4,))], lr=0.1, momentum=0.9)
    buffer = torch.zeros_like(before)
    for gradient in gradients:
        weight.grad = gradient.clone()
        optimizer.step()
        buffer = 0.9 * buffer + gradient
        before -= 0.1 * orthogonalise((gradient + 0.9 * buffer)[None])[0]
    assert torch.allclose(weight, before, atol=1e-12)


def test_row_blocks_move_like_separate_matrices():
    fused, first, second = (nn.Parameter(torch.zeros(r, 8, dtype=torch.float64)) for r in (20, 8, 12))
    gradient = random(20, 8)
    fused.grad, first.grad, second.grad = gradient, gradient[:8].clone(), gradient[8:].clone()
    Muon([Matrix(fused, (8, 12))]).step()
    Muon([Matrix(first, (8,)), Matrix(second, (12,))]).step()
    assert torch.allclose(fused, torch.cat([first, second]), atol=1e-12)


def test_one_block_would_move_otherwise():
    fused, whole = (nn.Parameter(torch.zeros(20, 8, dtype=torch.float64)) for _ in range(2))
    fused.grad = whole.grad = random(20, 8)
    Muon([Matrix(fused, (8, 12))]).step()
    Muon([Matrix(whole, (20,))]).step()
    assert not torch.allclose(fused, whole, atol=1e-3)


def test_a_tall_block_moves_further():
    tall = nn.Parameter(torch.zeros(32, 8, dtype=torch.float64))
    tall.grad = random(32, 8)
    Muon([Matrix(tall, (32,))], lr=1.0).step()
    assert torch.allclose(tall, -2.0 * orthogonalise(random(32, 8)[None])[0], atol=1e-12)


def test_a_weight_without_gradient_stays():
    weight = nn.Parameter(random(4, 4))
    before = weight.detach().clone()
    Muon([Matrix(weight, (4,))]).step()
    assert torch.equal(weight, before)
