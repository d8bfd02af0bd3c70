"""The four retrieval tasks: how many problems there are, and their answers by brute force."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.point_retrieval import AR, COUNTING, INDEX, cgram_task


@pytest.mark.parametrize(
    ("task", "num_problems"),
    [(INDEX, 1114), (AR, 641), (cgram_task(3), 523), (COUNTING, 4356)],
    ids=lambda x: str(x)[:24],
)
def test_all_problems_of_up_to_four_tokens_are_there_once(task, num_problems):
    problems = task.exhaustive(4)
    assert len(problems) == len({problem.prompt for problem in problems}) == num_problems


@pytest.mark.parametrize(
    ("task", "x", "query", "answer"),
    [
        pytest.param(INDEX, (2, 1, 1), (1,), "2", id="index"),
        pytest.param(AR, (1, 3, 1, 2), (1,), "3", id="the first occurrence"),
        pytest.param(AR, (2, 1), (1,), None, id="an occurrence without successor"),
        pytest.param(cgram_task(3), (1, 2, 3, 1, 2, 4), (1, 2), "3", id="the first gram"),
        pytest.param(COUNTING, (2, 2, 3), (2, 1), "YES", id="more than t"),
        pytest.param(COUNTING, (2, 2, 3), (2, 2), "NO", id="exactly t"),
    ],
)
def test_answers_by_definition(task, x, query, answer):
    assert task.solve(x, query) == answer


def test_problems_come_in_groups_and_repeat():
    sizes = Sizes(2, ((6, 3), (9, 2)))
    groups = list(INDEX.groups(sizes))
    assert [(n, exhaustive, len(problems)) for n, exhaustive, problems in groups] == [
        (2, True, 9),
        (6, False, 3),
        (9, False, 2),
    ]
    assert groups == list(INDEX.groups(sizes))


def test_a_problem_knows_its_query():
    assert COUNTING.problem((3, 3, 1), (3, 1)).query == ("3", "1")


def test_erratum_17_values_that_are_keys_as_well_mislead():
    """The printed instance 1, x_1 + n/2, 2, x_2 + n/2, ...: the value n/2 is the key of another pair."""
    n, bits = 4, (0, 1)
    printed = tuple(token for i, bit in enumerate(bits, start=1) for token in (i, bit + n // 2))
    corrected = tuple(token for i, bit in enumerate(bits, start=1) for token in (i, bit + n // 2 + 1))
    assert AR.solve(printed, (2,)) == "2"  # the value 0 + 2 of key 1 is taken for key 2
    assert AR.solve(corrected, (2,)) == "4"  # 1 + 3
