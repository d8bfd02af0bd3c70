import pytest
import torch

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.parts import HeadNorm, ShortConvolution, from_heads, head_size, last_inputs, padding, to_heads


def draw(*shape):
    return torch.randn(*shape, generator=torch_generator(0, "parts"))


def test_heads_are_cut_and_joined():
    x = draw(2, 5, 12)
    heads = to_heads(x, 3)
    assert torch.equal(heads[:, 1], x[:, :, 4:8])
    assert torch.equal(from_heads(heads), x)


def test_heads_must_divide_the_width():
    assert head_size(12, 3, what="GLA") == 4
    with pytest.raises(ConfigError, match="GLA needs n_heads that divide its width 12, got 5"):
        head_size(12, 5, what="GLA")


def test_padding_follows_the_real_tokens():
    assert padding(draw(2, 3, 1), torch.tensor([1, 3]))[:, 0, :, 0].tolist() == [[False, True, True], [False] * 3]
    assert not padding(draw(2, 3, 1), None).any()


def test_a_short_convolution_weighs_the_last_inputs():
    part = ShortConvolution(2, 3, generator=torch_generator(0, "conv"))
    x, window = draw(1, 4, 2), draw(1, 2, 2)
    y, after = part(x, window, None)
    padded = torch.cat([window.mT, x], dim=1)
    expected = part.bias + sum(part.weight[:, j] * padded[0, 2 + j] for j in range(3))
    torch.testing.assert_close(y[0, 2], expected)
    assert torch.equal(after, x[:, -2:].mT)
    assert not part.init_window(3, x).any()


def test_heads_are_normed_one_by_one():
    normed = HeadNorm(8, eps=0.0)(draw(2, 3, 5, 8))
    torch.testing.assert_close(normed.square().mean(-1), torch.ones(2, 3, 5))


@pytest.mark.parametrize("t", [1, 2, 3, 5])
def test_the_window_holds_the_last_inputs(t):
    window, x = torch.arange(3.0).view(1, 1, 3), torch.arange(3.0, 3.0 + t).view(1, t, 1)
    assert last_inputs(window, x, None).flatten().tolist() == [t, t + 1.0, t + 2.0]


def test_the_window_of_a_padded_row_ends_at_its_last_real_token():
    window, x = torch.arange(3.0).expand(3, 1, 3), torch.arange(3.0, 8.0).view(1, 5, 1).expand(3, 5, 1)
    ends = last_inputs(window, x, torch.tensor([0, 2, 5]))
    assert ends.squeeze(1).tolist() == [[0, 1, 2], [2, 3, 4], [5, 6, 7]]
