import re

import pytest

from recherche.retrieval.escapes import Escape, read_class_escape, read_escape, read_repeat_range
from recherche.retrieval.outcome import RefusedError, Status

ESCAPES = {
    r"\d": Escape(category="d"),
    r"\Z": Escape(place="$"),
    r"\A": Escape(place="^"),
    r"\n": Escape(char="\n"),
    r"\x41": Escape(char="A"),
    r"\u0041": Escape(char="A"),
    r"\U0001F600": Escape(char="\U0001f600"),
    r"\N{DIGIT ONE}": Escape(char="1"),
    r"\07": Escape(char="\x07"),
    r"\101": Escape(char="A"),
    r"\12": Escape(group=12),
    r"\.": Escape(char="."),
    r"\é": Escape(char="é"),
}
IN_CLASS = {
    r"\b": Escape(char="\b"),
    r"\S": Escape(category="S"),
    r"\101": Escape(char="A"),
    r"\7": Escape(char="\x07"),
}
BAD = ["\\", r"\q", r"\x4", r"\u004", r"\U00110000", r"\N{NO SUCH}", r"\N", r"\400"]
BAD_IN_CLASS = [r"\A", r"\8", r"\400", r"\x4"]


@pytest.mark.parametrize(("pattern", "escape"), ESCAPES.items(), ids=ESCAPES)
def test_an_escape_means_what_python_says(pattern: str, escape: Escape):
    assert read_escape(pattern, 1) == (escape, len(pattern))
    assert read_escape(pattern + "x", 1) == (escape, len(pattern))


@pytest.mark.parametrize(("pattern", "escape"), IN_CLASS.items(), ids=IN_CLASS)
def test_inside_a_class_some_mean_something_else(pattern: str, escape: Escape):
    assert read_class_escape(pattern, 1) == (escape, len(pattern))


@pytest.mark.parametrize("pattern", BAD)
def test_bad_escapes_are_those_that_re_refuses(pattern: str):
    with pytest.raises(RefusedError, match="bad escape") as refusal:
        read_escape(pattern, 1)
    assert refusal.value.status is Status.SYNTAX
    with pytest.raises(re.error):
        re.compile(pattern)


@pytest.mark.parametrize("pattern", BAD_IN_CLASS)
def test_bad_escapes_in_a_class_are_those_that_re_refuses(pattern: str):
    with pytest.raises(RefusedError, match="bad escape"):
        read_class_escape(pattern, 1)
    with pytest.raises(re.error):
        re.compile(f"[{pattern}]")


@pytest.mark.parametrize("pattern", [r"\ud800", r"\U0000DFFF"])
def test_a_lone_surrogate_is_named(pattern: str):
    with pytest.raises(RefusedError, match="A lone surrogate can stand in no text") as refusal:
        read_escape(pattern, 1)
    assert refusal.value.status is Status.UNSUPPORTED


RANGES = {
    "{3}": (3, 3, 3),
    "{3,}": (3, None, 4),
    "{,3}": (0, 3, 4),
    "{2,3}": (2, 3, 5),
    "{,}": (0, None, 3),
    "{}": None,
    "{a}": None,
    "{ 1 }": None,
    "{1": None,
    "{1,2": None,
    "{-1}": None,
}


@pytest.mark.parametrize(("pattern", "wanted"), RANGES.items(), ids=RANGES)
def test_a_brace_begins_a_repeat_or_is_a_character(pattern: str, wanted: tuple | None):
    assert read_repeat_range(pattern, 1) == wanted
