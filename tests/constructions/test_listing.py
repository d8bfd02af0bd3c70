"""The listing of weights: what it says is what the matrices hold."""

import pytest
import torch

from recherche.constructions.blocks import LinearUnit
from recherche.constructions.catalogue import CONSTRUCTIONS
from recherche.constructions.compiler import compile_program
from recherche.constructions.listing import weights_in_words


def test_associative_recall_reads_as_one_lookup():
    program = CONSTRUCTIONS["ar-hybrid"].program(8)
    lines = weights_in_words(program, compile_program(program))
    assert "  one += 1" in lines
    assert "    value  number   ->  answer" in lines
    assert "    key  number[-1]   query  262144 number[0]" in lines


@pytest.mark.parametrize("name", ["istree-transformer", "machine-rag", "counting-hybrid"])
def test_every_unit_every_head_and_every_lag_has_its_line(name):
    program = CONSTRUCTIONS[name].program(64)
    model = compile_program(program)
    lines = weights_in_words(program, model)
    units = sum(int(block.feed_forward.W_3.count_nonzero()) for block in model.blocks)
    assert sum("ReLU" in line for line in lines) == units
    assert sum("  head " in line for line in lines) == sum(shape.n_heads for shape in model.shape.blocks)
    rows = sum(int(block.mixer.A.any(1).logical_or(block.mixer.B.any(1)).sum()) for block in linear_blocks(model))
    assert sum(" = A (" in line for line in lines) == rows


def linear_blocks(model):
    return [block for block in model.blocks if isinstance(block.mixer, LinearUnit)]


def test_a_changed_weight_changes_its_line():
    program = CONSTRUCTIONS["index-hybrid"].program(8)
    model = compile_program(program)
    with torch.no_grad():
        model.blocks[0].feed_forward.b_3 *= 3
    assert "  one += 3" in weights_in_words(program, model)
