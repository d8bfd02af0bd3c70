import pytest
import torch
from torch.nn.functional import silu

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.parts import from_heads, to_heads
from recherche.mixers.retention import RetentionLayer
from recherche.mixers.rotary import rotate


def test_it_is_the_parallel_form_of_the_paper():
    mixer = RetentionLayer(n_heads=2).build(8).double()
    x = torch.randn(2, 11, 8, generator=torch_generator(0, "x"), dtype=torch.float64)
    *qkv, gate = mixer.qkvg_proj(x).chunk(4, dim=-1)
    q, k, v = (to_heads(part, 2) for part in qkv)
    table = mixer.rotary.upto(11, x)
    gamma = 1 - 2.0 ** -torch.tensor([5.0, 6.0], dtype=torch.float64)
    ages = torch.arange(11)[:, None] - torch.arange(11)
    decay = torch.where(ages >= 0, gamma[:, None, None] ** ages.clamp(min=0), 0.0)
    scores = rotate(q, table, 0) @ rotate(k, table, 0).mT * decay / 2
    expected = mixer.out_proj(from_heads(mixer.norm(scores @ v)) * silu(gate))
    torch.testing.assert_close(mixer(x)[0], expected, rtol=1e-10, atol=1e-12)


def test_it_is_the_recurrence_of_the_paper():
    """S_t = gamma S_{t-1} + k_t v_t^T, with the rotations as complex phases."""
    mixer = RetentionLayer(n_heads=2).build(8).double()
    x = torch.randn(2, 19, 8, generator=torch_generator(0, "x"), dtype=torch.float64)
    *qkv, gate = mixer.qkvg_proj(x).chunk(4, dim=-1)
    q, k, v = (to_heads(part, 2) for part in qkv)
    q, k = (torch.complex(*part.chunk(2, dim=-1)) for part in (q, k))
    phases = torch.polar(torch.ones(2).double(), 10_000.0 ** -torch.tensor([0.0, 0.5], dtype=torch.float64))
    gamma = (1 - 2.0 ** -torch.tensor([5.0, 6.0], dtype=torch.float64))[:, None, None]
    state, outputs = torch.zeros(2, 2, 2, 4, dtype=torch.complex128), []
    for i in range(x.shape[1]):
        # The frame turns with the token, so that only the distance of two tokens is left.
        state = gamma * phases[:, None] * state + k[:, :, i, :, None].conj() * v[:, :, i, None] / 2
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], state).real)
    expected = mixer.out_proj(from_heads(mixer.norm(torch.stack(outputs, dim=2))) * silu(gate))
    torch.testing.assert_close(mixer(x)[0], expected, rtol=1e-9, atol=1e-11)


def test_heads_must_have_pairs():
    with pytest.raises(ConfigError, match="needs heads of even size, got 3"):
        RetentionLayer(n_heads=2).build(6)
