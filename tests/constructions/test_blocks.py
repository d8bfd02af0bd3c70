"""The paper's layers against their definitions, written out token by token."""

import math

import pytest
import torch
from torch import Tensor

from recherche._rng import torch_generator
from recherche.constructions.blocks import Attention, Block, LinearUnit, ReGLU, hardmax

D, T = 5, 7


def randomised(module: torch.nn.Module) -> torch.nn.Module:
    generator = torch_generator(0, "weights")
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return module


def inputs(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch_generator(1, "inputs"), dtype=torch.float64)


def attention_by_definition(attention: Attention, x: Tensor) -> Tensor:
    """Definition 3.1 with full d x d matrices."""
    y = torch.zeros_like(x)
    for W_Q, W_K, W_V, W_O in zip(attention.W_Q, attention.W_K, attention.W_V, attention.W_O, strict=True):
        for t in range(len(x)):
            scores = (x[: t + 1] @ W_K.T) @ (W_Q @ x[t]) / math.sqrt(x.shape[1])
            y[t] += (W_O @ W_V) @ (torch.softmax(scores, dim=0) @ x[: t + 1])
    return y


def test_attention_is_definition_3_1():
    attention, x = randomised(Attention(D, n_heads=2, d_head=3)), inputs(1, T, D)
    assert torch.allclose(attention(x)[0][0], attention_by_definition(attention, x[0]), rtol=1e-10, atol=1e-12)


def test_attention_without_heads_adds_nothing():
    assert Attention(D, n_heads=0, d_head=0)(inputs(1, T, D))[0].abs().max() == 0


def test_the_linear_unit_is_definition_3_4():
    unit, x = randomised(LinearUnit(D)), inputs(1, T, D)
    hidden, expected = torch.zeros(D, dtype=torch.float64), []
    for t in range(T):
        hidden = unit.A @ hidden + unit.B @ x[0, t]
        expected.append(hidden)
    assert torch.allclose(unit(x)[0][0], torch.stack(expected), rtol=1e-10)


def test_the_feed_forward_is_a_regulated_linear_unit():
    layer, x = randomised(ReGLU(D, width=4)), inputs(D)
    gates = torch.relu(layer.W_1 @ x + layer.b_1)
    assert torch.allclose(layer(x), layer.W_3 @ (gates * (layer.W_2 @ x + layer.b_2)) + layer.b_3, rtol=1e-12)


def blocks() -> list[Block]:
    mixers = (Attention(D, n_heads=2, d_head=3), LinearUnit(D))
    return [randomised(Block(mixer, ReGLU(D, width=4))) for mixer in mixers]


@pytest.mark.parametrize("block", blocks(), ids=["attention", "linear"])
def test_steps_from_a_carried_state_agree_with_one_pass(block):
    x = inputs(2, T, D)
    whole, _ = block(x)
    _, state = block(x[:, :3])
    stepped = []
    for t in range(3, T):
        y, state = block.step(x[:, t], state)
        stepped.append(y)
    assert torch.allclose(torch.stack(stepped, dim=1), whole[:, 3:], rtol=1e-10)


@pytest.mark.parametrize("block", blocks(), ids=["attention", "linear"])
def test_padding_does_not_reach_the_state(block):
    x = inputs(2, T, D)
    _, padded = block(x, lengths=torch.tensor([4, T]))
    _, alone = block(x[:1, :4])
    following = inputs(1, 1, D)[:, 0]
    y_padded, _ = block.step(following.expand(2, D), padded)
    y_alone, _ = block.step(following, alone)
    assert torch.allclose(y_padded[0], y_alone[0], rtol=1e-10)


def test_hard_max_shares_the_weight_among_the_largest_scores():
    scores = torch.tensor([[1.0, 3.0, 3.0, -torch.inf]])
    assert hardmax(scores).tolist() == [[0.0, 0.5, 0.5, 0.0]]


def test_a_block_can_be_trained_further():
    block, x = blocks()[0], inputs(1, T, D)
    block(x)[0].square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().max() > 0 for parameter in block.parameters())


@pytest.mark.parametrize("block", blocks(), ids=["attention", "linear"])
def test_every_operation_passes_through_the_rounding(block):
    seen = []

    def rounding(x: Tensor) -> Tensor:
        seen.append(x.shape)
        return x

    for module in block.modules():
        if hasattr(module, "rounding"):
            module.rounding = rounding
    block(inputs(1, 1, D))
    # Attention: K, V, Q, scores, weights, mixture, output; linear unit: h; feed-forward: two inputs, product, output.
    assert len(seen) == (7 if isinstance(block.mixer, Attention) else 1) + 4
