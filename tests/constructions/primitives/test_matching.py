"""Matching keys with queries, compiled and held to its meaning; and the printed forms that fail."""

import pytest
import torch

from recherche.constructions.layout import Transformer
from recherche.constructions.program import Program

NUMBERS = [str(i) for i in range(1, 6)]


@pytest.mark.parametrize("select", ["first", "last"])
def test_a_match_returns_the_value_at_the_chosen_place(texts, audited, select):
    p = Program("match", ("<s>", "~"), 30, Transformer())
    p.match(keys=p.copy(p.number, 1), queries=p.number, values=p.position, select=select)
    for report in audited(p, texts([*NUMBERS, "~"], length=30, count=5)):
        assert report.num_exact == report.num_registers


def test_a_match_may_be_restricted_on_both_sides(texts, audited):
    p = Program("restricted", ("<s>", "~"), 30, Transformer())
    after = p.copy(p.special("~"), 1)
    p.match(
        keys=(p.number, p.copy(p.number, 2)), queries=(p.number, p.copy(p.number, 1)), values=p.position, where=after
    )
    p.match(keys=p.number, queries=p.number, values=p.position, where=after, unless=after)
    for report in audited(p, texts([*NUMBERS, "~"], length=30, count=5)):
        assert report.num_exact == report.num_registers


def test_the_nearest_match_is_found_and_two_equally_near_ones_share(texts, audited):
    p = Program("nearest", ("<s>",), 30, Transformer())
    p.match(keys=p.number, queries=p.copy(p.number, 1), values=p.position, select="nearest", near=p.position - 6)
    for report in audited(p, texts(NUMBERS, length=30, count=5)):
        assert report.largest_error == 0


def test_without_a_match_the_value_of_the_first_token_is_returned(audited):
    p = Program("missing", ("<s>",), 8, Transformer())
    found = p.match(keys=p.copy(p.number, 1), queries=p.number + 7, values=p.position)
    assert p.registers.value_at_begin(found) == 1
    audited(p, [["<s>", "1", "2", "3"]])


def test_erratum_15_heads_that_split_occurrences_average_two_vertices():
    """C.27 looks for 1/4 among the values 1/3 and 1/6 of `next`: both are equally near.

    The vertex is the first end of edges 2 and 5 and the second end of 1, 3 and 4, so a head for first ends sees only
    the reciprocals 1/3 and 1/6 of its occurrence numbers, and returns the mean of two neighbours. Integers cannot tie.
    """
    reciprocals = torch.tensor([1 / 3, 1 / 6], dtype=torch.float64)
    integers = torch.tensor([2.0, 5.0], dtype=torch.float64)
    printed = torch.softmax(-1e6 * (reciprocals - 1 / 4).square(), dim=0)
    corrected = torch.softmax(-1e6 * torch.cat([(integers - 3).square(), torch.tensor([0.25])]), dim=0)
    assert printed.tolist() == pytest.approx([0.5, 0.5])
    assert corrected.tolist() == [0.0, 0.0, 1.0]
