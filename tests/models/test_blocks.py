import torch

from recherche._rng import torch_generator
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.selective_ssm import MambaLayer
from recherche.models.blocks import Block, RMSNorm, SwiGLU


def inputs(*shape):
    return torch.randn(*shape, generator=torch_generator(0, "x"), dtype=torch.float64)


def test_a_norm_makes_mean_squares_one():
    norm, x = RMSNorm(16, eps=1e-12).double(), inputs(3, 16)
    torch.testing.assert_close(norm(x).square().mean(-1), torch.ones(3, dtype=torch.float64))


def test_swiglu_is_its_formula():
    ffn, x = SwiGLU(8, 12, generator=torch_generator(0, "w")).double(), inputs(2, 5, 8)
    gate, up = ffn.gate_up_proj.weight.split(12)
    a = x @ gate.t()
    expected = (a * torch.sigmoid(a) * (x @ up.t())) @ ffn.out_proj.weight.t()
    torch.testing.assert_close(ffn(x), expected, rtol=1e-12, atol=1e-12)


def test_a_block_adds_its_branches_to_the_stream():
    block = Block(16, AttentionLayer(d_ffn=8), eps=1e-5, generator=torch_generator(0, "w")).double()
    x = inputs(2, 5, 16)
    middle = x + block.mixer(block.norm(x))[0]
    torch.testing.assert_close(block(x)[0], middle + block.ffn(block.ffn_norm(middle)), rtol=1e-12, atol=1e-12)


def test_a_layer_without_width_has_no_channel_mixer():
    block = Block(16, MambaLayer(), eps=1e-5, generator=torch_generator(0, "w")).double()
    x = inputs(2, 5, 16)
    assert block.ffn is None
    torch.testing.assert_close(block(x)[0], x + block.mixer(block.norm(x))[0], rtol=1e-12, atol=1e-12)
