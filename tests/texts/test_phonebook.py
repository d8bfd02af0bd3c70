import re

import pytest

from recherche.texts.phonebook import Phonebook
from tests.texts.oracle import find


def test_everybody_stands_in_the_book_once():
    lines = Phonebook(n=10_000).example(1).context.splitlines()
    assert len(lines) == 10_000
    assert all(re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+: \d{3}-\d{4}", line) for line in lines)
    assert len({line.split(":")[0] for line in lines}) == 10_000


def test_people_with_half_of_the_name_do_not_disturb_the_search():
    [ask, _] = Phonebook(n=3).example(2).trace
    first, last = ask.query.key[:-1].split()
    near = f"{first} Xu: 1\n{last} {first}: 2\n{first}a {last}: 3\nJo{first.lower()} {last}: 4\n{first} {last}s: 5\n"
    assert find(near + Phonebook(n=3).example(2).prompt, ask.query) == ask.found
    assert find(f"{first} {last}: 6\n" + near, ask.query) == "6"


@pytest.mark.parametrize("n", [1, 2, 5])
def test_anybody_may_be_asked_for(n: int):
    asked = {Phonebook(n=n).example(key).context.split("\n").index(line)
             for key in range(60)
             for line in Phonebook(n=n).example(key).context.split("\n")
             if line and line[:-10] in Phonebook(n=n).example(key).question}  # fmt: skip
    assert asked == set(range(n))
