import warnings

import pytest
import torch
from torch.nn.functional import normalize, silu

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.delta_net import DeltaNetLayer, GatedDeltaNetLayer
from recherche.mixers.parts import from_heads, to_heads


def inputs(d_model, dtype=torch.float64):
    return torch.randn(2, 37, d_model, generator=torch_generator(0, "x"), dtype=torch.float64).to(dtype)


def test_deltanet_is_the_recurrence_of_the_paper():
    mixer, x = DeltaNetLayer(n_heads=2, d_conv=2).build(8).double(), inputs(8)
    mixed, _ = mixer.convolution(mixer.qkv_proj(x), mixer.init_state(2).window, None)
    q, k, v = (to_heads(part, 2) for part in silu(mixed).chunk(3, dim=-1))
    q, k = normalize(q, dim=-1) / 2, normalize(k, dim=-1)
    write = torch.sigmoid(x @ mixer.write_weight.t())
    state, outputs = torch.zeros(2, 2, 4, 4, dtype=torch.float64), []
    for i in range(x.shape[1]):
        key, strength = k[:, :, i, :, None], write[:, i, :, None, None]
        state = state - strength * key @ (key.mT @ state) + strength * key * v[:, :, i, None]
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], state))
    expected = mixer.out_proj(from_heads(mixer.norm(torch.stack(outputs, dim=2))))
    torch.testing.assert_close(mixer(x)[0], expected, rtol=1e-10, atol=1e-12)


def qwen3_next(d_model, n_heads):
    """The Gated DeltaNet layer of Qwen3-Next with random weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import Qwen3NextConfig
        from transformers.models.qwen3_next.modeling_qwen3_next import Qwen3NextGatedDeltaNet
    size = d_model // n_heads
    config = Qwen3NextConfig(
        hidden_size=d_model,
        num_hidden_layers=1,
        layer_types=["linear_attention"],
        linear_num_value_heads=n_heads,
        linear_num_key_heads=n_heads,
        linear_key_head_dim=size,
        linear_value_head_dim=size,
        rms_norm_eps=1e-5,
    )
    layer = Qwen3NextGatedDeltaNet(config, 0).eval()
    generator = torch_generator(0, "qwen")
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.3)
    return layer


def copied(theirs, d_model, n_heads):
    """Our mixer with the weights of `theirs`, whose projections lie head by head and whose convolution has no bias."""
    ours, size = GatedDeltaNetLayer(n_heads=n_heads).build(d_model), d_model // n_heads
    q, k, v, z = theirs.in_proj_qkvz.weight.view(n_heads, 4, size, d_model).unbind(1)
    write, decay = theirs.in_proj_ba.weight.view(n_heads, 2, d_model).unbind(1)
    with torch.no_grad():
        ours.qkv_proj.weight.copy_(torch.cat([part.flatten(0, 1) for part in (q, k, v)]))
        ours.gate.output_proj.weight.copy_(z.flatten(0, 1))
        ours.write_weight.copy_(write)
        ours.gate.decay_proj.weight.copy_(decay)
        ours.gate.A_log.copy_(theirs.A_log)
        ours.gate.dt_bias.copy_(theirs.dt_bias)
        ours.convolution.weight.copy_(theirs.conv1d.weight.squeeze(1))
        ours.convolution.bias.zero_()
        ours.norm.weight.copy_(theirs.norm.weight)
        ours.out_proj.weight.copy_(theirs.out_proj.weight)
    return ours


def test_gated_deltanet_is_that_of_qwen3_next():
    theirs, x = qwen3_next(32, 4), inputs(32, torch.float32)
    with torch.no_grad():
        torch.testing.assert_close(copied(theirs, 32, 4)(x)[0], theirs(x), rtol=1e-5, atol=1e-5)
        theirs.A_log += 0.1
        assert not torch.allclose(GatedDeltaNetLayer(n_heads=4).build(32)(x)[0], theirs(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("layer", [DeltaNetLayer(n_heads=3), GatedDeltaNetLayer(n_heads=3)], ids=lambda x: x.mixer)
def test_heads_must_divide_the_width(layer):
    with pytest.raises(ConfigError, match="DeltaNet needs n_heads that divide its width 8, got 3"):
        layer.build(8)
