"""A construction in R_p: the same program, every result and every weight rounded to p bits.

lambda, the sharpness of attention, only has to make what T tokens with smaller scores weigh together, T exp(-lambda),
less than half the last fraction bit, 2^-(f + 1) with f = (p - 1) / 2. So lambda = 2^ceil(log2((f + 1) ln 2 + ln T)); a
larger one would waste integer bits.

Reference: Wen, Dang & Lyu (2024), Appendix A.2, https://arxiv.org/abs/2402.18510
"""

import math

import torch

from recherche.constructions.blocks import Attention, LinearUnit, ReGLU
from recherche.constructions.compiler import compile_program
from recherche.constructions.construction import Construction, Sizes, Suite
from recherche.constructions.model import PaperModel
from recherche.constructions.proof import Proof, prove
from recherche.precision import EXACT_BITS, FixedPoint


def round_model(model: PaperModel, rounding: FixedPoint) -> PaperModel:
    """The model with rounded weights, and with the rounding after each of its operations."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(rounding(parameter))
    for module in model.modules():
        if isinstance(module, (Attention, LinearUnit, ReGLU)):
            module.rounding = rounding
    return model


def compile_rounded(suite: Suite, bits: int) -> PaperModel:
    """The suite's program in R_p, with the sharpness that p bits need for its longest text."""
    longest = max(len(case.text) for case in suite.cases)
    nats = (bits + 1) / 2 * math.log(2) + math.log(longest)
    return round_model(compile_program(suite.program, sharpness=1 << math.ceil(math.log2(nats))), FixedPoint(bits))


def prove_in_precision(construction: Construction, sizes: Sizes, *, bits: int) -> list[Proof]:
    """The proofs of a construction run in R_p; only generation is judged."""
    return prove(construction, sizes, compile_suite=lambda suite: compile_rounded(suite, bits), check=lambda *_: None)


def smallest_exact_bits(construction: Construction, sizes: Sizes) -> int | None:
    """The smallest p up to 53 for which every case is right, found by bisection; None if there is none."""
    low, high = 1, (EXACT_BITS + 1) // 2
    if any(proof.failures for proof in prove_in_precision(construction, sizes, bits=2 * high - 1)):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        wrong = any(proof.failures for proof in prove_in_precision(construction, sizes, bits=2 * middle - 1))
        low, high = (middle, high) if wrong else (low, middle)
    return 2 * high - 1


def bits_per_doubling(smallest: dict[int, int]) -> float:
    """The slope of the least-squares line of p against log2 n."""
    x = [math.log2(n) for n in smallest]
    y = list(smallest.values())
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)
