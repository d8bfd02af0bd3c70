import torch
from torch.nn.functional import logsigmoid, silu

from recherche._rng import torch_generator
from recherche.mixers.gated_linear_attention import GatedLinearAttentionLayer
from recherche.mixers.parts import from_heads, to_heads


def test_it_is_the_recurrence_of_the_paper():
    mixer = GatedLinearAttentionLayer(n_heads=2, gate_rank=3).build(8).double()
    x = torch.randn(2, 11, 8, generator=torch_generator(0, "x"), dtype=torch.float64)
    *qkv, gate = mixer.qkvg_proj(x).chunk(4, dim=-1)
    q, k, v = (to_heads(part, 2) for part in qkv)
    decay = to_heads((logsigmoid(mixer.decay_out(mixer.decay_in(x)) + mixer.decay_bias) / 16).exp(), 2)
    state, outputs = torch.zeros(2, 2, 4, 4, dtype=torch.float64), []
    for i in range(11):
        state = decay[:, :, i, :, None] * state + k[:, :, i, :, None] * v[:, :, i, None] / 2
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], state))
    expected = mixer.out_proj(from_heads(mixer.norm(torch.stack(outputs, dim=2))) * silu(gate))
    torch.testing.assert_close(mixer(x)[0], expected, rtol=1e-10, atol=1e-12)
