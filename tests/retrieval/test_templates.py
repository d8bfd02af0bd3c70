import json
import re
from pathlib import Path
from random import Random

import pytest

from recherche.queries import AR, Count, Index, LastWrite, Parent, Query
from recherche.retrieval import Paper, Retriever, Status
from recherche.retrieval.templates import escape, read, render
from tests.retrieval.oracles import KINDS, NAMES, ODD_NAMES, random_queries

ERRATA = json.loads((Path(__file__).parent / "data" / "errata.json").read_text(encoding="utf-8"))
NEAR_MISSES = (
    "",
    "(?:^| )",
    "(?:^| )7 ([^ ]+) [^ ]+",
    "(?:^| )7 8 ([^ ]+)(?: [^ ]+){1}",
    "(?:^| )7. ([^ ]+) [^ ]",
    "(?:^| )7\\d ([^ ]+) [^ ]",
    "(?s)(?:^| )(?:1 ~ 2|2 ~ 3) (?:.*? )??(?:([^ ]+) ~ 2|2 ~ ([^ ]+))(?: |$)",
    "^(?:(?:[^ ]+ )*?5 ){1}(?:[^ ]+ )*?(6) [^ ]+ [^ ]",
    "^(?:[^ ]+ ){01}([^ ]+) [^ ]",
    "^(?:[^ ]+ ){4294967295}([^ ]+) [^ ]",
)


def first_group(pattern: str, text: str) -> str | None:
    """Group 1 of the first match in Python's `re`, as the paper has it."""
    found = re.search(pattern, text)
    return found and found[1]


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum["name"])
def test_printed_pattern_goes_wrong_in_re_and_ours_is_right(erratum):
    text = " ".join(erratum["tokens"])
    assert first_group(erratum["printed"], text) == erratum["printed_group"] != erratum["answer"]
    found = Retriever().context(erratum["tokens"]).search(erratum["corrected"])
    assert found.tokens == (erratum["answer"] and [erratum["answer"]])
    assert found.status is (Status.NO_MATCH if erratum["answer"] is None else Status.OK)


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum["name"])
def test_paper_mode_shows_the_erratum_on_the_bounded_engine(erratum):
    found = Retriever(mode=Paper()).context(erratum["tokens"]).search(erratum["printed"])
    printed = erratum["printed_group"]
    assert found.tokens == (printed and printed.split())
    assert (found.status is Status.OK) is (printed is not None)


def test_root_has_no_record_so_it_does_not_look_visited():
    """Erratum E19: the printed check fails for the root; a record `<s> - 1`, or knowing the root, mends it."""
    tokens = ["<s>", "1", "~", "2", "FAILED", "1", "-", "2"]
    assert first_group(r"\b(\S+)\b - \b1\b", " ".join(tokens)) is None
    assert Retriever().context(tokens).query(Parent("1")).status is Status.NO_MATCH
    assert Retriever().context([*tokens, "<s>", "-", "1"]).query(Parent("1")).tokens == ["<s>"]


def test_undelimited_writes_are_read_across_their_borders():
    """Erratum E25: `p v p` also appears where one write ends and the next begins; `p = v ;` does not."""
    plain = Retriever().context(["<s>", "1", "a", "1", "s", "1"])
    assert plain.search("(?s)^(?:.* )?1 ([^ ]+) 1(?: |$)").tokens == ["s"]
    delimited = Retriever().context(["<s>", "1", "=", "a", ";", "s", "1", "="])
    assert delimited.query(LastWrite("1")).tokens == ["a"]


def test_counting_lazily_takes_exponential_time_in_re_but_the_possessive_form_agrees():
    tokens = ["5", "1", "5", "2", "5", "9", "9"]
    for threshold in range(5):
        possessive = rf"^(?>(?:(?!5 )[^ ]+ )*+5 ){{{threshold}}}(?:(?!5 )[^ ]+ )*+(5) [^ ]+ [^ ]"
        found = Retriever().context(tokens).query(Count("5", threshold))
        assert found.tokens == ([wanted] if (wanted := first_group(possessive, " ".join(tokens))) else None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_rendered_query_is_read_back(kind: str):
    for query in random_queries(Random(kind), kind, 200, NAMES + ODD_NAMES):
        assert read(render(query)) == query


@pytest.mark.parametrize("pattern", NEAR_MISSES)
def test_what_is_nearly_a_template_is_not_one(pattern: str):
    assert read(pattern) is None


@pytest.mark.parametrize("token", ["a.b", "x(", "[^ ]+", "\\", "a|b", "$^", "{2}", "~-#&"])
def test_an_escaped_token_matches_itself_alone(token: str):
    assert re.fullmatch(escape(token), token)
    assert not re.fullmatch(escape(token), token + token[0])


@pytest.mark.parametrize("query", [Index(1), AR("a"), AR("a", "last"), Count("a", 0)], ids=repr)
def test_a_pattern_neither_begins_nor_ends_with_a_space(query: Query):
    assert render(query) == render(query).strip()
