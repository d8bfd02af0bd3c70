"""Weights: where each operation goes in the matrices, and how many there are."""

import pytest
import torch

from recherche.constructions.compiler import compile_program, largest_weight, nonzero_weights
from recherche.constructions.layout import Hybrid, LinearRNN, Transformer
from recherche.constructions.program import Program


def test_a_running_sum_is_a_one_on_the_diagonal_of_a():
    p = Program("sum", ("<s>", "~"), 8, LinearRNN())
    total = p.running_sum(p.special("~")).registers[0].coordinate
    unit = compile_program(p).blocks[0].mixer
    assert unit.A.nonzero().tolist() == [[total, total]]
    assert unit.B.nonzero().tolist() == [[total, 3]]


def test_heads_that_attend_alike_are_one_head():
    p = Program("copies", ("<s>", "~"), 8, Transformer())
    p.copy(p.number, 1)
    p.copy(p.special("~"), 1)
    p.copy(p.number, 2)
    assert compile_program(p).shape.blocks[1].n_heads == 2


@pytest.mark.parametrize("layout", [Transformer(), LinearRNN(), Hybrid(recurrent=1)], ids=str)
def test_a_program_without_operations_repeats_what_it_emits(layout):
    p = Program("constant", ("<s>", "YES"), 8, layout)
    p.emit("YES")
    model = compile_program(p)
    logits, _ = model.prefill(torch.tensor([[0, 3, 4]]))
    assert model.vocab.tokens[int(logits.argmax())] == "YES"


@pytest.mark.parametrize(("num_specials", "d_model"), [(4, 16), (10, 16), (11, 64), (58, 64), (59, 256)])
def test_with_attention_d_model_is_a_power_of_four_with_room_for_every_register(num_specials, d_model):
    specials = tuple(f"t{i}" for i in range(num_specials - 1))
    p = Program("wide", ("<s>", *specials), 8, Transformer())
    p.copy(p.number, 0)
    assert p.registers.n_coordinates == num_specials + 6
    assert compile_program(p).shape.d_model == d_model


def test_without_attention_d_model_is_a_multiple_of_eight():
    p = Program("wide", ("<s>",), 8, LinearRNN())
    p.lag(p.number, 20)
    assert compile_program(p).shape.d_model == 32


def test_sharpness_scales_the_queries_alone():
    p = Program("copy", ("<s>",), 8, Transformer())
    p.copy(p.number, 1)
    dull, sharp = (compile_program(p, sharpness=s).blocks[1].mixer for s in (1, 1024))
    assert torch.equal(sharp.W_Q, 1024 * dull.W_Q)
    assert torch.equal(sharp.W_K, dull.W_K)


def test_size_is_counted_in_weights_that_are_not_zero():
    layer = torch.nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.0, -3.0], [1.0, 0.0]]))
        layer.bias.zero_()
    assert (nonzero_weights(layer), largest_weight(layer)) == (2, 3.0)
