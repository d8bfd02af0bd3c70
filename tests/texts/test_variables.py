import re
from itertools import pairwise

import pytest

from recherche.errors import ConfigError
from recherche.text_queries import After
from recherche.texts.base import Ask
from recherche.texts.variables import Variables


def run_program(context: str) -> dict[str, str]:
    """The values of all variables; an assignment from one that has none is an error."""
    values: dict[str, str] = {}
    for line in context.splitlines():
        name, value = re.fullmatch(r"(VAR [A-Z]{5}) = (\d{5}|VAR [A-Z]{5})", line).groups()
        assert name not in values
        values[name] = value if value.isdigit() else values[value]
    return values


@pytest.mark.parametrize(("n", "hops"), [(1, 0), (7, 0), (3, 2), (11, 2), (50, 4)])
def test_the_answer_is_what_running_the_assignments_gives(n: int, hops: int):
    for key in range(30):
        example = Variables(n=n, hops=hops).example(key)
        values = run_program(example.context)
        assert len(values) == n
        assert example.answers == (values[re.search(r"VAR [A-Z]{5}(?=\?)", example.question)[0]],)


def test_a_search_is_made_for_each_hop_and_the_value():
    asks = [part for part in Variables(n=30, hops=4).example(1).trace if isinstance(part, Ask)]
    assert len(asks) == 5
    assert [ask.query for ask in asks[1:]] == [After(f"{ask.found} =") for ask in asks[:-1]]


def test_chains_are_mixed():
    lines = Variables(n=30, hops=2).example(1).context.splitlines()
    handed_on = [(before, after) for before, after in pairwise(lines) if "= VAR" in after]
    assert any(after.split(" = ")[1] != before.split(" = ")[0] for before, after in handed_on)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 2, "hops": 2}, "takes n from 3 to 100000, got n = 2 assignments"),
        ({"n": 100, "hops": 21}, "takes hops from 0 to 20, got hops = 21"),
    ],
)
def test_impossible_chains_are_refused(options: dict, message: str):
    with pytest.raises(ConfigError, match=message):
        Variables(**options)
