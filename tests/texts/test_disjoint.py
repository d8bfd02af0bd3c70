from itertools import combinations
from math import log2

import pytest

from recherche.texts import disjoint
from recherche.texts.base import Ask
from recherche.texts.disjoint import Disjoint


def lists(context: str) -> tuple[list[str], list[str]]:
    lines = context.splitlines()
    red = [line.removeprefix("Red: ") for line in lines if line.startswith("Red: ")]
    return red, [line.removeprefix("Blue: ") for line in lines if line.startswith("Blue: ")]


@pytest.mark.parametrize("n", [1, 2, 9])
def test_the_answer_is_whether_the_lists_share_a_name(n: int):
    answers = []
    for key in range(100):
        example = Disjoint(n=n).example(key)
        red, blue = lists(example.context)
        assert len(set(red)) == len(set(blue)) == n
        assert len(set(red) & set(blue)) == (example.answers == ("yes",))
        answers += example.answers
    assert 30 < answers.count("yes") < 70


def test_each_red_name_is_looked_for_until_one_is_found():
    for key in range(20):
        example = Disjoint(n=5).example(key)
        asks = [part for part in example.trace if isinstance(part, Ask)]
        red, blue = lists(example.context)
        looked_for = 5 if not set(red) & set(blue) else next(i for i, name in enumerate(red, 1) if name in blue)
        assert len(asks) == 2 * looked_for + (example.answers == ("no",))


def test_the_bound_counts_red_lists_that_some_blue_list_tells_apart(monkeypatch):
    monkeypatch.setattr(disjoint, "NUM_PEOPLE", 7)
    sets = [frozenset(red) for red in combinations(range(7), 2)]
    replies = {tuple(bool(red & blue) for blue in sets) for red in sets}
    assert Disjoint(n=2).lower_bound_bits == pytest.approx(log2(len(replies)))
