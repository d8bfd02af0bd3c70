import warnings

import torch
from torch import nn
from torch.nn.functional import logsigmoid

from recherche._rng import torch_generator
from recherche.mixers.mlstm import MLSTMLayer
from recherche.mixers.parts import from_heads, to_heads


def by_definition(mixer, x):
    """The recurrence without a stabiliser: exp of the gates themselves."""
    *qkv, out_gate = mixer.qkvo_proj(x).chunk(4, dim=-1)
    q, k, v = (to_heads(part, mixer.n_heads) for part in qkv)
    write, forget = (x @ mixer.gate_weight.t() + mixer.gate_bias).chunk(2, dim=-1)
    size = mixer.d_head
    memory, total, outputs = torch.zeros(2, 2, size, size).double(), torch.zeros(2, 2, size).double(), []
    for i in range(x.shape[1]):
        kept, added = logsigmoid(forget[:, i]).exp()[..., None], write[:, i].exp()[..., None]
        key = k[:, :, i] / size**0.5
        memory = kept[..., None] * memory + added[..., None] * key[..., None] * v[:, :, i, None]
        total = kept * total + added * key
        weight = (total * q[:, :, i]).sum(-1, keepdim=True).abs().clamp(min=1)
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], memory) / weight)
    return mixer.out_proj(from_heads(mixer.norm(torch.stack(outputs, dim=2))) * torch.sigmoid(out_gate))


def test_it_is_the_recurrence_of_the_paper():
    mixer = MLSTMLayer(n_heads=2).build(8).double()
    x = torch.randn(2, 37, 8, generator=torch_generator(0, "x"), dtype=torch.float64)
    torch.testing.assert_close(mixer(x)[0], by_definition(mixer, x), rtol=1e-9, atol=1e-11)


def of_xlstm(d_model, n_heads):
    """The mLSTM layer of xLSTM 7B with random weights, its gates uncapped, without the norm after the memory.

    Its norm subtracts the mean of a head, ours only scales; what is compared is all the rest.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import xLSTMConfig
        from transformers.models.xlstm.modeling_xlstm import xLSTMLayer
    config = xLSTMConfig(
        hidden_size=d_model,
        num_heads=n_heads,
        num_blocks=1,
        qk_dim_factor=1.0,
        gate_soft_cap=1e6,
        eps=1e-12,
        mode="train",
    )
    layer, generator = xLSTMLayer(config), torch_generator(0, "xlstm")
    layer.multihead_norm = nn.Identity()
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.3)
    return layer


def test_with_copied_weights_it_is_the_mlstm_of_xlstm():
    theirs, ours = of_xlstm(16, 2), MLSTMLayer(n_heads=2).build(16)
    ours.norm = nn.Identity()
    with torch.no_grad():
        parts = (theirs.q, theirs.k, theirs.v, theirs.ogate_preact)
        ours.qkvo_proj.weight.copy_(torch.cat([part.weight for part in parts]))
        ours.gate_weight.copy_(torch.cat([theirs.igate_preact.weight, theirs.fgate_preact.weight]))
        ours.gate_bias.copy_(torch.cat([theirs.igate_preact.bias, theirs.fgate_preact.bias]))
        ours.out_proj.weight.copy_(theirs.out_proj.weight)
        x = torch.randn(2, 128, 16, generator=torch_generator(0, "x"))
        expected = theirs(x)[0]
        assert (ours(x)[0] - expected).abs().max() < 1e-5 * expected.abs().max()
        ours.gate_bias[0] += 0.01
        assert (ours(x)[0] - expected).abs().max() > 1e-4 * expected.abs().max()


def test_large_input_gates_do_not_overflow():
    mixer = MLSTMLayer(n_heads=2).build(8)
    with torch.no_grad():
        mixer.gate_bias[:2] = 500.0
    x = torch.randn(2, 37, 8, generator=torch_generator(0, "x"))
    y, state = mixer(x)
    assert torch.isfinite(y).all()
    assert all(torch.isfinite(part).all() for part in state)
