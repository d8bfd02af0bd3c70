"""Copy, count and invert, compiled and held to their meaning; and the printed forms that fail."""

import math

import pytest
import torch

from recherche.constructions.layout import Transformer
from recherche.constructions.program import Program

NUMBERS = [str(i) for i in range(1, 6)]


def weights_of(scores: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores.to(torch.float64), dim=-1)


@pytest.mark.parametrize("back", [0, 1, 2, 5])
def test_copy_holds_the_value_so_many_tokens_ago(texts, audited, back):
    p = Program("copy", ("<s>",), 40, Transformer())
    p.copy(p.number, back)
    for report in audited(p, texts(NUMBERS, length=40, count=3)):
        assert report.num_exact == report.num_registers


def test_count_is_the_correctly_rounded_reciprocal(texts, audited):
    p = Program("count", ("<s>", "~"), 40, Transformer())
    p.count_inverse(keys=p.number, queries=p.number, where=1 - p.one_of(("<s>", "~")))
    for report in audited(p, texts([*NUMBERS, "~"], length=40, count=3)):
        assert report.largest_error == 0


def test_invert_recovers_every_count(texts, audited):
    p = Program("invert", ("<s>",), 300, Transformer())
    p.invert(p.count_inverse(keys=p.number, queries=p.number))
    text = ["<s>", *["1"] * 298]
    for report in audited(p, [text, *texts(NUMBERS, length=40, count=2)]):
        assert report.largest_error < 1e-15


def test_erratum_5_the_printed_scale_leaves_copies_inexact():
    """With scale n and 1 / sqrt(d), as printed, the weight of a neighbour is not 0; with lambda sqrt(d) it is."""
    n, d = 16, 64
    distance = torch.arange(n, dtype=torch.float64) - 7
    printed = weights_of(-n * distance.square() / math.sqrt(d))
    corrected = weights_of(-1024 * distance.square())
    assert printed.max() < 1
    assert corrected.tolist() == [float(x == 0) for x in distance.tolist()]


def test_erratum_12_the_printed_count_has_the_wrong_sign():
    """Lemma C.14: W_K = n [1 + [k = 1]; x; x^2], W_Q = [q^2; -q; 1] against [1 - [k = 1]; x; x^2], [-q^2; 2q; -1]."""
    x = torch.tensor([0, 3, 1, 3, 2, 3], dtype=torch.float64)
    begin = torch.tensor([1, 0, 0, 0, 0, 0], dtype=torch.float64)
    q, n = 3.0, 100.0
    printed = weights_of(n * ((1 + begin) * q**2 - q * x + x**2))
    corrected = weights_of(n * (-(1 - begin) * q**2 + 2 * q * x - x**2))
    assert abs(printed[0] - 0.25) > 0.2
    assert corrected[0] == 0.25
