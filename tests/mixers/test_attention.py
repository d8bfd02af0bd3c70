import math

import pytest
import torch

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.attention import QK_SCALE, AttentionLayer
from recherche.mixers.rotary import rotate


def by_definition(mixer, x):
    """One softmax a token, head by head."""
    h, g, k = mixer.n_heads, mixer.n_kv_heads, mixer.d_head
    heads = mixer.qkv_proj(x).unflatten(-1, (-1, k)).transpose(1, 2)
    q, keys, v = heads.split((h, g, g), dim=1)
    if mixer.qk_scale is not None:
        q, keys = (
            part / (part.square().mean(-1, keepdim=True) + 1e-6).sqrt() * scale
            for part, scale in zip((q, keys), mixer.qk_scale, strict=True)
        )
    table = mixer.rotary.upto(x.shape[1], x)
    q, keys = rotate(q, table, 0), rotate(keys, table, 0)
    outputs = []
    for i in range(x.shape[1]):
        per_head = []
        for head in range(h):
            shared = head * g // h
            scores = torch.einsum("bk,bsk->bs", q[:, head, i], keys[:, shared, : i + 1]) / math.sqrt(k)
            per_head.append(torch.einsum("bs,bsk->bk", scores.softmax(-1), v[:, shared, : i + 1]))
        outputs.append(torch.cat(per_head, dim=-1))
    return mixer.out_proj(torch.stack(outputs, dim=1))


@pytest.mark.parametrize(
    "layer",
    [AttentionLayer(), AttentionLayer(n_heads=4, n_kv_heads=1), AttentionLayer(n_heads=2, qk_norm=True)],
    ids=["plain", "grouped", "qk-norm"],
)
def test_attention_is_a_softmax_over_the_past(layer):
    mixer = layer.build(16).double()
    x = torch.randn(2, 9, 16, generator=torch_generator(0, "x"), dtype=torch.float64)
    torch.testing.assert_close(mixer(x)[0], by_definition(mixer, x), rtol=1e-10, atol=1e-12)


def test_the_plain_path_equals_the_compiled_one(monkeypatch):
    mixer = AttentionLayer(n_heads=4, n_kv_heads=2, qk_norm=True).build(16).double()
    x = torch.randn(2, 9, 16, generator=torch_generator(0, "x"), dtype=torch.float64)
    compiled, _ = mixer(x)
    monkeypatch.setattr("recherche.mixers.attention.has_compiled_path", lambda _: False)
    torch.testing.assert_close(mixer(x)[0], compiled, rtol=1e-12, atol=1e-12)


def test_the_learned_scale_starts_at_its_constant():
    assert (AttentionLayer(qk_norm=True).build(16).qk_scale == QK_SCALE).all()


@pytest.mark.parametrize(
    ("layer", "d_model"),
    [(AttentionLayer(n_heads=3), 16), (AttentionLayer(n_heads=4, n_kv_heads=3), 16), (AttentionLayer(n_heads=4), 12)],
    ids=["heads do not divide width", "groups do not divide heads", "odd head"],
)
def test_heads_that_do_not_divide_are_refused(layer, d_model):
    with pytest.raises(ConfigError, match=f"got d_model={d_model}, .* choose n_heads among the divisors"):
        layer.build(d_model)
