import pytest
import torch

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.parts import from_heads, to_heads
from recherche.mixers.rotary import rotate
from recherche.mixers.tova import TOVALayer


def inputs(t):
    return torch.randn(2, t, 16, generator=torch_generator(0, "x"), dtype=torch.float64)


def by_definition(mixer, x, n_slots):
    """One row at a time, over a list of kept tokens."""
    q, k, v = (to_heads(part, 4) for part in mixer.qkv_proj(x).chunk(3, dim=-1))
    table = mixer.rotary.upto(x.shape[1], x)
    q, k = rotate(q, table, 0), rotate(k, table, 0)
    rows, kept_by_row = [], []
    for row in range(len(x)):
        kept, outputs = [], []
        for p in range(x.shape[1]):
            kept.append(p)
            weights = (torch.einsum("hk,hjk->hj", q[row, :, p], k[row][:, kept]) / 2).softmax(-1)
            outputs.append(torch.einsum("hj,hjk->hk", weights, v[row][:, kept]))
            if len(kept) > n_slots:
                del kept[int(weights.mean(0).argmin())]
        rows.append(torch.stack(outputs, dim=1))
        kept_by_row.append(kept)
    return mixer.out_proj(from_heads(torch.stack(rows))), kept_by_row


@pytest.mark.parametrize("n_slots", [1, 3, 8])
def test_the_least_attended_token_makes_room(n_slots):
    mixer, x = TOVALayer(n_slots=n_slots).build(16).double(), inputs(21)
    expected, kept = by_definition(mixer, x, n_slots)
    y, state = mixer(x)
    torch.testing.assert_close(y, expected, rtol=1e-10, atol=1e-12)
    assert [sorted(row) for row in state.positions.tolist()] == kept


def test_slots_for_the_whole_text_are_attention():
    x, full = inputs(9), AttentionLayer().build(16).double()
    mixer = TOVALayer(n_slots=9).build(16).double()
    mixer.load_state_dict(full.state_dict())
    torch.testing.assert_close(mixer(x)[0], full(x)[0], rtol=1e-10, atol=1e-12)


def test_heads_must_have_pairs():
    with pytest.raises(ConfigError, match="needs heads of even size, got 3"):
        TOVALayer(n_heads=4).build(12)
