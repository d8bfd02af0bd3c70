import re
import warnings
from random import Random

import pytest

from recherche.retrieval.limits import Limits
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.pattern import TEXT_FLAGS, read_pattern
from recherche.retrieval.syntax import Alternation, AnyChar, At, Char, Chars, Group, Repeat, Sequence
from tests.retrieval import fuzz

LIMITS = Limits()
TREES = {
    "": Sequence(()),
    "a.": Sequence((Char("a"), AnyChar())),
    "^$": Sequence((At("^"), At("$"))),
    "a|b": Alternation((Sequence((Char("a"),)), Sequence((Char("b"),)))),
    "(a)": Sequence((Group(1, Sequence((Char("a"),))),)),
    "(?:a)": Sequence((Group(None, Sequence((Char("a"),))),)),
    "(?P<x>a)": Sequence((Group(1, Sequence((Char("a"),))),)),
    "(?#note)a": Sequence((Char("a"),)),
    "(?s)a": Sequence((Char("a"),)),
    "a*?": Sequence((Repeat(Char("a"), 0, None, False),)),
    "a{2,3}": Sequence((Repeat(Char("a"), 2, 3),)),
    "a{": Sequence((Char("a"), Char("{"))),
    "[a]": Sequence((Char("a"),)),
    "[^a]": Sequence((Chars(((97, 97),), "", True),)),
    "[]a-c-]": Sequence((Chars(((93, 93), (97, 99), (45, 45))),)),
    r"[\d.]": Sequence((Chars(((46, 46),), "d"),)),
    r"\S": Sequence((Chars((), "S"),)),
    r"\b": Sequence((At("b"),)),
}
SYNTAX = [
    *("(", ")", "a)", "(?", "(?P", "(?P<", "(?P<1>a)", "(?P<x>a)(?P<x>b)", "(?P>x)", "(?<x>a)", "(?#a", "(?y)"),
    *("*", "+a", "?", "{1}", "^*", r"\b+", "a**", "a*??", "a{2}{3}", "a{3,2}", "(*a)", "|*"),
    *("[", "[a", "[]", "[b-a]", r"[a-\d]", r"[\d-a]", "[a-", r"\1", r"(\1)", "\\"),
]
ONLY_WARNED_OF = ["[[a]", "[a--b]", "[a&&b]", "[a||b]", "[a~~b]"]
UNSUPPORTED = {
    "(?=a)": "look-ahead",
    "(?!a)": "look-ahead",
    "(?<=a)": "look-behind",
    "(?<!a)": "look-behind",
    "(?>a)": "an atomic group",
    "(a)(?(1)b)": "a conditional",
    r"(a)\1": "a back-reference",
    "(?P<x>a)(?P=x)": "a back-reference",
    "(?i)a": "a flag other than a leading",
    "(?s:a)": "a flag other than a leading",
    "a++": "a possessive repeat",
    "a{2}+": "a possessive repeat",
    "(a*)*": "a repeat of something that can be empty",
    "(?:a|)+": "a repeat of something that can be empty",
    "(\ud800)": "surrogate",
}
LARGE = {
    "a" * 4097: "4096 bytes",
    "é" * 2049: "4096 bytes",
    "(?:" * 51: "50 deep",
    "()" * 17: "16 groups",
    "a{4294967295}": "may count to 4294967294",
    "a{1,9999999999}": "may count to 4294967294",
}


@pytest.mark.parametrize(("pattern", "tree"), TREES.items(), ids=TREES)
def test_a_pattern_becomes_a_tree(pattern: str, tree):
    assert read_pattern(pattern, LIMITS).root == tree


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [("(?m)a", "m"), ("(?is)a", "is"), ("(?i)(?m)a", "im"), ("a", "")],
)
def test_over_a_text_a_pattern_may_begin_with_more_flags(pattern: str, flags: str):
    tree = read_pattern(pattern, LIMITS, flags=TEXT_FLAGS)
    assert (tree.flags, tree.root) == (flags, Sequence((Char("a"),)))
    assert re.compile(pattern).flags & (re.I | re.M | re.S) == sum(re.RegexFlag[flag.upper()] for flag in flags)


@pytest.mark.parametrize("pattern", ["(?x)a", "(?ix)a", "a(?i)b", "(?i:a)", "(?a)a"])
def test_over_a_text_other_flags_are_named(pattern: str):
    with pytest.raises(RefusedError, match=r"a flag other than a leading \(\?i\), \(\?m\), \(\?s\)"):
        read_pattern(pattern, LIMITS, flags=TEXT_FLAGS)


def test_the_ends_of_a_text_are_apart_from_those_of_its_lines():
    tree = read_pattern(r"\A^\Z$", LIMITS, flags=TEXT_FLAGS)
    assert tree.root == Sequence((At("A"), At("^"), At("Z"), At("$")))
    assert read_pattern(r"\A^\Z$", LIMITS).root == Sequence((At("^"), At("^"), At("$"), At("$")))


@pytest.mark.parametrize("pattern", SYNTAX)
def test_what_re_refuses_is_a_syntax_error(pattern: str):
    with pytest.raises(RefusedError, match="cannot be read") as refusal:
        read_pattern(pattern, LIMITS)
    assert refusal.value.status is Status.SYNTAX
    with pytest.raises(re.error):
        re.compile(pattern)


@pytest.mark.parametrize("pattern", ONLY_WARNED_OF)
def test_what_re_warns_of_is_a_syntax_error(pattern: str):
    with pytest.raises(RefusedError, match=r"possible (nested )?set") as refusal:
        read_pattern(pattern, LIMITS)
    assert refusal.value.status is Status.SYNTAX
    with pytest.raises(FutureWarning):
        re.compile(pattern)


@pytest.mark.parametrize(("pattern", "name"), UNSUPPORTED.items(), ids=map(ascii, UNSUPPORTED))
def test_what_is_left_out_is_named(pattern: str, name: str):
    with pytest.raises(RefusedError, match=name) as refusal:
        read_pattern(pattern, LIMITS)
    assert refusal.value.status is Status.UNSUPPORTED
    re.compile(pattern)


@pytest.mark.parametrize(("pattern", "limit"), LARGE.items(), ids=map(str, range(len(LARGE))))
def test_what_is_too_large_names_the_limit(pattern: str, limit: str):
    with pytest.raises(RefusedError, match=limit) as refusal:
        read_pattern(pattern, LIMITS)
    assert refusal.value.status is Status.TOO_LARGE


def test_random_patterns_are_syntax_errors_where_re_says_so():
    random = Random(1)
    for _ in range(500):
        pattern = fuzz.mutated(random, fuzz.random_pattern(random))
        try:
            read_pattern(pattern, LIMITS)
            status = Status.OK
        except RefusedError as refusal:
            status = refusal.status
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                re.compile(pattern)
        except (re.error, FutureWarning):
            assert status in (Status.SYNTAX, Status.UNSUPPORTED), pattern
        else:
            assert status in (Status.OK, Status.UNSUPPORTED), pattern
