"""Names of people and words, from the lists that ship with the package; their origin stands in data/README.md.

>>> person(0), person(1), NUM_PEOPLE
('James Smith', 'James Johnson', 2000000)
"""

from functools import cache
from importlib.resources import files

NUM_FIRST, NUM_LAST, NUM_WORDS = 1000, 2000, 12000
NUM_PEOPLE = NUM_FIRST * NUM_LAST
"""How many people there are: each first name with each surname."""


def person(index: int) -> str:
    """First name and surname of the person `index`, 0 <= index < NUM_PEOPLE; different people have different names."""
    first, last = divmod(index, NUM_LAST)
    return f"{_lines('first_names')[first]} {_lines('last_names')[last]}"


def words() -> tuple[str, ...]:
    """NUM_WORDS different English words in lower case, the most common first."""
    return _lines("words")


@cache
def _lines(name: str) -> tuple[str, ...]:
    text = files("recherche.texts").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    return tuple(text.split())
