import pytest
import torch
from torch.nn.functional import silu

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.parts import from_heads, to_heads
from recherche.mixers.rwkv import RWKVLayer


def test_it_is_the_recurrence_of_the_paper():
    mixer = RWKVLayer(n_heads=2, decay_rank=3).build(8).double()
    x = torch.randn(2, 19, 8, generator=torch_generator(0, "x"), dtype=torch.float64)
    shifted = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
    mixed = [x * (1 - mu) + shifted * mu for mu in mixer.mixtures]
    *rkv, gate = (part @ w.t() for part, w in zip(mixed[:4], mixer.rkvg_proj.weight.split(8), strict=True))
    r, k, v = (to_heads(part, 2) for part in rkv)
    rate = mixer.decay_bias + mixer.decay_out(torch.tanh(mixer.decay_in(mixed[4])))
    decay = to_heads(torch.exp(-torch.exp(rate)), 2)
    state, outputs = torch.zeros(2, 2, 4, 4, dtype=torch.float64), []
    for i in range(x.shape[1]):
        write = k[:, :, i, :, None] * v[:, :, i, None]
        seen = state + mixer.bonus.mT * write
        outputs.append(torch.einsum("bhk,bhkm->bhm", r[:, :, i], seen))
        state = decay[:, :, i, :, None] * state + write
    expected = mixer.out_proj(from_heads(mixer.norm(torch.stack(outputs, dim=2))) * silu(gate))
    torch.testing.assert_close(mixer(x)[0], expected, rtol=1e-10, atol=1e-12)


def test_heads_must_divide_the_width():
    with pytest.raises(ConfigError, match="RWKV-6 needs n_heads that divide its width 8, got 3"):
        RWKVLayer(n_heads=3).build(8)
