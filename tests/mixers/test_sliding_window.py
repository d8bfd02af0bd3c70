import pytest
import torch

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.contract import CHECKS
from recherche.mixers.parts import from_heads, to_heads
from recherche.mixers.rotary import rotate
from recherche.mixers.sliding_window import SlidingWindowLayer, rotate_each


def inputs(t):
    return torch.randn(2, t, 16, generator=torch_generator(0, "x"), dtype=torch.float64)


def by_definition(mixer, x, *, window, n_sinks):
    """Token by token over a list of visible keys, numbered by their place in the cache."""
    q, k, v = (to_heads(part, 4) for part in mixer.qkv_proj(x).chunk(3, dim=-1))
    table, outputs = mixer.rotary.upto(x.shape[1], x), []
    for p in range(x.shape[1]):
        cache = [j for j in range(p + 1) if j < n_sinks or j > p - window]
        keys = torch.cat([rotate(k[:, :, j : j + 1], table, place) for place, j in enumerate(cache)], dim=2)
        query = rotate(q[:, :, p : p + 1], table, len(cache) - 1)
        weights = (query @ keys.mT / 2).softmax(-1)
        outputs.append(weights @ torch.stack([v[:, :, j] for j in cache], dim=2))
    return mixer.out_proj(from_heads(torch.cat(outputs, dim=2)))


@pytest.mark.parametrize(("window", "n_sinks"), [(5, 2), (3, 0), (1, 4), (16, 4)])
def test_positions_count_inside_the_cache(window, n_sinks):
    mixer, x = SlidingWindowLayer(window=window, n_sinks=n_sinks).build(16).double(), inputs(23)
    expected = by_definition(mixer, x, window=window, n_sinks=n_sinks)
    torch.testing.assert_close(mixer(x)[0], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize(("window", "n_sinks"), [(3, 0), (1, 2), (7, 1)])
def test_odd_windows_keep_the_contract_in_chunks_longer_than_they_are(window, n_sinks, check, monkeypatch):
    monkeypatch.setattr("recherche.mixers.sliding_window._CHUNK", 10)
    check(SlidingWindowLayer(window=window, n_sinks=n_sinks), 16)


def test_a_window_over_the_whole_text_is_attention():
    x, full = inputs(9), AttentionLayer().build(16).double()
    window = SlidingWindowLayer(window=9).build(16).double()
    window.load_state_dict(full.state_dict())
    torch.testing.assert_close(window(x)[0], full(x)[0], rtol=1e-10, atol=1e-12)


def test_every_token_can_be_turned_by_itself():
    x = inputs(3).unflatten(-1, (4, 4)).transpose(1, 2)
    table = SlidingWindowLayer().build(16).rotary.upto(9, x)
    turned = rotate_each(x, table, torch.tensor([[4, 0, 2], [1, 1, 8]]))
    torch.testing.assert_close(turned[1:, :, 2:], rotate(x[1:, :, 2:], table, 8))


def test_heads_must_have_pairs():
    with pytest.raises(ConfigError, match="needs heads of even size, got 3"):
        SlidingWindowLayer(n_heads=4).build(12)
