import pytest
import torch

from recherche._rng import torch_generator
from recherche.kernels.rotary_heads import QK_EPS, Heads, rotary_heads

D_HEAD, POSITIONS = 6, 20


def draw(*shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch_generator(0, "heads"), dtype=dtype).requires_grad_()


def table(dtype=torch.float64):
    angles = torch.arange(POSITIONS)[:, None] * 0.3 ** torch.arange(D_HEAD // 2)
    return torch.stack([angles.cos(), angles.sin()]).to(dtype)


def by_complex_numbers(x, scale, start):
    """Turn pairs (j, j + k/2) by multiplication with e^(i angle); x has shape (b, h, t, k)."""
    if scale is not None:
        x = x * (x.square().mean(-1, keepdim=True) + QK_EPS).rsqrt() * scale
    turns = torch.complex(*table(x.dtype))
    turns = torch.stack([turns[s : s + x.shape[2]] for s in start.tolist()])[:, None]
    turned = torch.complex(*x.chunk(2, dim=-1)) * turns
    return torch.cat([turned.real, turned.imag], dim=-1)


@pytest.mark.parametrize("heads", [Heads(2, 2), Heads(4, 1), Heads(1, 1)], ids=str)
@pytest.mark.parametrize("normed", [True, False], ids=["qk-norm", "plain"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_heads_are_split_normed_and_turned(heads, normed, dtype):
    b, t, (h, g) = 3, 5, heads
    qkv, start = draw(b, t, (h + 2 * g) * D_HEAD, dtype=dtype), torch.tensor([0, 7, 15])
    scale = draw(2, D_HEAD, dtype=dtype) if normed else None
    q, k, v = rotary_heads(qkv, scale, table(dtype), start, heads=heads)
    parts = qkv.unflatten(-1, (-1, D_HEAD)).transpose(1, 2).split((h, g, g), dim=1)
    torch.testing.assert_close(q, by_complex_numbers(parts[0], None if scale is None else scale[0], start))
    torch.testing.assert_close(k, by_complex_numbers(parts[1], None if scale is None else scale[1], start))
    assert torch.equal(v, parts[2])


@pytest.mark.parametrize("heads", [Heads(2, 2), Heads(4, 1)], ids=str)
def test_gradients_are_right(heads):
    qkv, start = draw(2, 3, (heads.n_query + 2 * heads.n_key) * D_HEAD), torch.tensor([0, 7])
    scale = draw(2, D_HEAD)
    assert torch.autograd.gradcheck(lambda x, s: rotary_heads(x, s, table(), start, heads=heads), (qkv, scale))
    assert torch.autograd.gradcheck(lambda x: rotary_heads(x, None, table(), start, heads=heads), (qkv,))


def test_another_start_gives_another_turn():
    qkv = draw(1, 3, 3 * D_HEAD)
    here, there = (rotary_heads(qkv, None, table(), torch.tensor([s]), heads=Heads(1, 1))[0] for s in (0, 1))
    assert not torch.allclose(here, there)
