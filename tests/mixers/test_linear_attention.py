import pytest
import torch
from torch.nn.functional import elu

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.linear_attention import LinearAttentionLayer
from recherche.mixers.parts import from_heads, to_heads


def test_it_is_attention_with_weights_from_features():
    mixer = LinearAttentionLayer(n_heads=2).build(8).double()
    x = torch.randn(2, 11, 8, generator=torch_generator(0, "x"), dtype=torch.float64)
    q, k, v = (to_heads(part, 2) for part in mixer.qkv_proj(x).chunk(3, dim=-1))
    scores = torch.tril((elu(q) + 1) @ (elu(k) + 1).mT)
    expected = mixer.out_proj(from_heads(scores / scores.sum(-1, keepdim=True) @ v))
    torch.testing.assert_close(mixer(x)[0], expected, rtol=1e-10, atol=1e-12)


def test_heads_must_divide_the_width():
    with pytest.raises(ConfigError, match="Linear attention needs n_heads that divide its width 8, got 3"):
        LinearAttentionLayer(n_heads=3).build(8)
