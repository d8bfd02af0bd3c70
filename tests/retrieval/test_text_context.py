import pytest

from recherche.errors import InputError
from recherche.retrieval import After, Between, Limits, Line, Passage, Pattern, Retriever, Sentence, Status, Tier, Word
from recherche.retrieval.text_context import TextContext

CODE = "import re\n\ndef alpha(x):\n    return x\n\ndef beta(y, z):\n    return y\n"
PROSE = "Ada Berg: 555-1234\nAda Bergen: 555-9999\r\nIt rained. Did Ada Berg go? She did!\n\nNo more\n"


def text(written: str, **settings) -> TextContext:
    return Retriever(**settings).text(written)


EXAMPLES = {
    "a group that ends within a word": (CODE, r"def (\w+)", "alpha"),
    "the start of the text": (CODE, r"^def (\w+)", None),
    "the start of a line": (CODE, r"(?m)^def (\w+)", "alpha"),
    "the end of a line": (CODE, r"(?m)\w$", "e"),
    "the whole match": (CODE, r"return \w", "return x"),
    "over lines": (CODE, r"(?m)^def alpha.*\n(?:.*\n){0,40}?.*beta", CODE[11:47]),
    "any case": (CODE, r"(?i)DEF BETA", "def beta"),
    "the dot stops at a line break": (CODE, r"alpha.*", "alpha(x):"),
    "unless it is told not to": (CODE, r"(?s)alpha.*beta", CODE[15:47]),
    "flags together": (CODE, r"(?ms)^def B.*?z|^Def", None),
    "flags one after the other": (CODE, r"(?i)(?m)^DEF B\w+", "def beta"),
    "before the last line break": (CODE, r"y$", "y"),
    "a word": (CODE, r"\bbeta\b", "beta"),
    "white space over lines": (CODE, r"x\s+def", "x\n\ndef"),
}


@pytest.mark.parametrize(("written", "pattern", "wanted"), EXAMPLES.values(), ids=EXAMPLES)
def test_a_pattern_finds_its_group_or_its_whole_match(written: str, pattern: str, wanted: str | None):
    found = text(written).search(pattern)
    assert found.text == wanted
    assert found.status is (Status.NO_MATCH if wanted is None else Status.OK)


QUERIES = {
    "after": (After("Ada Berg:"), "555-1234"),
    "after, no part of a longer word": (After("Ada Berg", "last"), "go? She did!"),
    "after, the second": (After("Ada", 2), "Bergen: 555-9999"),
    "after, white space left out": (After("Bergen:"), "555-9999"),
    "after, nothing": (After("No more"), None),
    "word": (Word("Did"), "Ada"),
    "word on a later line": (Word("9999"), "It"),
    "line": (Line("Bergen"), "Ada Bergen: 555-9999"),
    "sentence": (Sentence("Ada Berg", "last"), "Did Ada Berg go?"),
    "sentence up to a blank line": (Sentence("did!"), "She did!"),
    "sentence at the end": (Sentence("more"), "No more"),
    "between": (Between("Did", "She"), "Ada Berg go?"),
    "between, the last": (Between("Ada", ":", "last"), "Bergen"),
    "between, no end": (Between("No", "Ada"), None),
    "pattern": (Pattern(r"Ada Berg: (\S+)"), "555-1234"),
    "absent": (After("Zed"), None),
    "as many as there are": (After("Ada", 4), None),
}


@pytest.mark.parametrize(("query", "wanted"), QUERIES.values(), ids=QUERIES)
def test_a_question_in_plain_words_is_answered(query, wanted: str | None):
    context = text(PROSE)
    found = context.query(query)
    assert found.text == wanted
    if wanted is not None:
        assert found.span is not None
        assert PROSE[slice(*found.span)] == wanted


def test_a_model_must_say_by_a_group_what_it_asks_for():
    assert text(CODE).query(Pattern("beta")).status is Status.NO_GROUP
    assert text(CODE).query(Pattern("(beta)")).text == "beta"


def test_a_place_is_told_in_characters_bytes_line_and_column():
    found = text("é\néé Ada\n").search("Ada")
    assert found[:6] == (Status.OK, "Ada", (5, 8), (8, 11), 2, 4)
    assert found.tier is Tier.RECOGNISED


def test_hidden_text_is_not_searched_and_counts_in_places():
    context = text("Ada: 1\n")
    context.hide("<after\nAda:>")
    context.extend("Ada: 2")
    assert context.text == "Ada: 1\nAda: 2"
    assert len(context) == 25
    found = context.query(After("Ada:", "last"))
    assert found[:6] == (Status.OK, "2", (24, 25), (24, 25), 3, 11)
    assert context.search("Ada:>").status is Status.NO_MATCH


def test_a_fork_grows_on_its_own():
    context = text("Ada: 1\n")
    twin = context.fork()
    twin.extend("Zed: 2\n")
    twin.hide("é")
    context.extend("Eva: 3\n")
    assert (context.search("Zed").status, twin.query(After("Zed:")).text) == (Status.NO_MATCH, "2")
    assert (len(context), len(twin)) == (14, 15)


def test_all_matches_stand_from_left_to_right():
    found = text(CODE).search_all(r"(?m)^def (\w+)")
    assert [(one.text, one.line, one.column) for one in found] == [("alpha", 3, 5), ("beta", 6, 5)]
    assert [one.status for one in text(CODE).search_all("zed")] == [Status.NO_MATCH]
    assert [one.status for one in text(CODE).search_all("(")] == [Status.SYNTAX]


def test_exact_characters_are_found_within_words():
    context = text("banana")
    assert [context.literal("ana", which).span for which in (1, 2, 3, "last")] == [(1, 4), (3, 6), None, (3, 6)]
    assert context.literal("").status is Status.SYNTAX
    assert context.literal("a", 0).status is Status.SYNTAX


REFUSED = {
    "too long": ("a+", Status.RESULT_TOO_LONG),
    "empty": ("b*", Status.EMPTY_RESULT),
    "unset": ("a|(b)", Status.UNSET_GROUP),
    "syntax": ("(", Status.SYNTAX),
    "surrogate": ("\ud800", Status.UNSUPPORTED),
    "look-ahead": ("a(?=b)", Status.UNSUPPORTED),
    "other flag": ("(?x)a", Status.UNSUPPORTED),
    "large": ("a" * 5000, Status.TOO_LARGE),
}


@pytest.mark.parametrize(("pattern", "status"), REFUSED.values(), ids=REFUSED)
def test_every_other_outcome_has_a_name(pattern: str, status: Status):
    found = text("aaaa", limits=Limits(result_characters=3)).search(pattern)
    assert (found.status, found.text) == (status, None)
    assert bool(found.reason) is status.refused


def test_a_query_that_cannot_be_asked_is_a_named_outcome():
    context = text("a")
    assert context.query(After("\ud800")).status is Status.UNSUPPORTED
    assert context.query(After("a" * 10**6)).status is Status.TOO_LARGE
    assert isinstance(context.literal("\ud800"), Passage)


def test_a_text_with_a_lone_surrogate_is_one_clear_error():
    with pytest.raises(InputError, match=r"lone surrogate '.ud800' at 2"):
        text("ab\ud800")
    context = text("a")
    with pytest.raises(InputError, match="lone surrogate"):
        context.hide("\ud800")
    assert len(context) == 1
