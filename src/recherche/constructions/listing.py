"""The weights of a compiled model, row by row, in the names of the registers that they read and write.

Nothing here comes from the program but names: every number is read off the matrices, so that a reader can hold the
weights against the program's lines (`--show`) and those against the theorem.

    attention      a head's score is the sum of its rows key * query; W_V row -> the register that W_O writes
    linear unit    register = A (what it held one token ago) + B (what is read now)
    feed-forward   register += weight * ReLU(gate) * (value)

Reference: Wen, Dang & Lyu (2024), Definitions 3.1 and 3.4, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from recherche.constructions.blocks import Attention, Block, LinearUnit, ReGLU
from recherche.constructions.model import PaperModel
from recherche.constructions.program import Program

Names = Mapping[int, str]
"""Register names by coordinate of the residual stream."""


def weights_in_words(program: Program, model: PaperModel) -> list[str]:
    """One line for each row of the weights that is not zero.

    Args:
        model: what `program` was compiled to.
    """
    registers = [*program.registers.inputs.values(), *(placed.result for placed in program.registers.placed)]
    names = {register.coordinate % model.shape.d_model: register.name for register in registers}
    lines = []
    with torch.inference_mode():
        for i, block in enumerate(model.blocks, start=1):
            for part, rows in _parts(block, names):
                lines += [f"layer {i}, {part}", *(f"  {row}" for row in rows)] if rows else []
    return lines


def _parts(block: Block, names: Names) -> Iterator[tuple[str, list[str]]]:
    if isinstance(block.mixer, Attention):
        yield "attention", list(_attention(block.mixer, names))
    else:
        yield "linear unit", list(_linear(block.mixer, names))
    yield "feed-forward", list(_units(block.feed_forward, names))


def _form(row: Float[Tensor, " d"], names: Names) -> str:
    """A row of a matrix as a sum of registers."""
    terms = [_term(weight, names[i]) for i, weight in enumerate(row.tolist()) if weight]
    return " + ".join(terms).replace("+ -", "- ") or "0"


def _term(weight: float, name: str) -> str:
    if abs(weight) == 1:
        return name if weight > 0 else f"-{name}"
    return f"{_number(weight)} {name}"


def _number(x: float) -> str:
    return str(int(x)) if x == int(x) else repr(x)


def _attention(attention: Attention, names: Names) -> Iterator[str]:
    for h in range(attention.W_K.shape[0]):
        yield f"head {h + 1}"
        for key, query in zip(attention.W_K[h], attention.W_Q[h], strict=True):
            if key.any() and query.any():
                yield f"  key  {_form(key, names)}   query  {_form(query, names)}"
        for value, target in zip(attention.W_V[h], attention.W_O[h].T, strict=True):
            for coordinate in target.nonzero().flatten().tolist():
                yield f"  value  {_form(value, names)}   ->  {names[coordinate]}"


def _linear(unit: LinearUnit, names: Names) -> Iterator[str]:
    for coordinate, (before, now) in enumerate(zip(unit.A, unit.B, strict=True)):
        if before.any() or now.any():
            yield f"{names[coordinate]} = A ({_form(before, names)}) + B ({_form(now, names)})"


def _units(feed_forward: ReGLU, names: Names) -> Iterator[str]:
    for i, weights in enumerate(feed_forward.W_3.T):
        gate = _affine(feed_forward.W_1[i], float(feed_forward.b_1[i]), names)
        value = _affine(feed_forward.W_2[i], float(feed_forward.b_2[i]), names)
        for coordinate in weights.nonzero().flatten().tolist():
            yield f"{names[coordinate]} += {_number(float(weights[coordinate]))} * ReLU({gate}) * ({value})"
    for coordinate in feed_forward.b_3.nonzero().flatten().tolist():
        yield f"{names[coordinate]} += {_number(float(feed_forward.b_3[coordinate]))}"


def _affine(row: Float[Tensor, " d"], bias: float, names: Names) -> str:
    constant = [_number(bias)] if bias or not row.any() else []
    return " + ".join([*([_form(row, names)] if row.any() else []), *constant]).replace("+ -", "- ")
