from itertools import pairwise
from typing import Any

import pytest

from recherche.report.text_samples import TextSample
from recherche.report.text_steps import ShownText, quoted, show_text
from tests.report.made_up_texts import sample


def shown(**changes: Any) -> ShownText:
    return show_text(TextSample.model_validate(sample() | changes))


def marked(found: ShownText, what: tuple[int, int] | None) -> str:
    """The text of a range of segments."""
    segments = found.source + found.written
    return "" if what is None else "".join(segment.text for segment in segments[slice(*what)])


SHOWN = shown()


def test_a_search_and_the_answer_are_steps():
    assert [step.kind for step in SHOWN.steps] == ["search", "answer"]
    assert "".join(segment.text for step in SHOWN.steps for segment in SHOWN.segments_of(step)) == SHOWN.sample.text


def test_a_search_marks_what_it_found_and_its_line_in_the_prompt():
    step = SHOWN.steps[0]
    assert marked(SHOWN, step.found) == "555-0150"
    assert marked(SHOWN, step.record) == "Ada Berg-0150: 555-0150"
    assert step.found is not None
    assert step.found[1] <= len(SHOWN.source)
    assert step.caption == "Search 1 of 1, “after Ada Berg-0150:”: found “555-0150” at character 3,615 of the prompt."


def test_markers_are_signs_and_the_passage_is_retrieved():
    kinds = [(segment.text, segment.kind, segment.short) for segment in SHOWN.segments_of(SHOWN.steps[0])]
    assert kinds == [
        ("<search>", "control", "⟨"),
        ("after Ada Berg-0150:", "", ""),
        ("</search>", "control", "⟩"),
        ("<found>", "control", ""),
        ("555-0150", "retrieved", ""),
        ("</found>", "control", ""),
    ]


def test_what_was_left_out_of_the_prompt_is_counted():
    pieces = SHOWN.sample.prompt
    gaps = [segment.gap for segment in SHOWN.source if segment.gap]
    assert gaps == [begin - (before + len(text)) for (before, text), (begin, _) in pairwise(pieces)]
    assert SHOWN.rest == 0
    assert shown(prompt=[[0, "Ada"]]).rest == SHOWN.sample.prompt_characters - 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({}, "Answers “555-0150”: right.", id="right"),
        pytest.param({"right": False, "answer": "5"}, "Answers “5”: wrong, for the answer is “555-0150”.", id="wrong"),
        pytest.param({"right": False, "decided": False}, "no end within the budget", id="undecided"),
    ],
)
def test_the_answer_has_its_verdict(changes, words):
    assert words in shown(**changes).steps[-1].caption


def failed_search(**changes: Any) -> dict[str, Any]:
    """A search that found nothing, in a text of its own."""
    here = sample()["prompt_characters"]
    text, query = "Hm <search>x(</search><nothing> 5\n", "<search>x(</search>"
    search = {
        **{"query": "x(", "asked": None, "pattern": None, "status": "SYNTAX", "span": None, "found": None},
        **{"place": [here + 3, here + 3 + len(query) + 9], "inserted": [here + 3 + len(query)] * 2},
        **{"reason": "A parenthesis is open."},
    }
    search["inserted"] = [here + 3 + len(query), here + 3 + len(query) + 9]
    return {"text": text, "searches": [search | changes]}


def test_a_search_without_a_match_says_its_status_and_why():
    found = shown(**failed_search())
    assert [step.kind for step in found.steps] == ["other", "search", "answer"]
    assert found.steps[1].caption == "Search 1 of 1, “x(”: nothing (SYNTAX). A parenthesis is open."
    assert found.segments_of(found.steps[1])[-1][1:4] == ("<nothing>", "control", "∅")
    assert (found.steps[1].found, found.steps[1].record) == (None, None)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"place": [0, 5]}, id="a place in the prompt"),
        pytest.param({"place": [10**6, 10**6 + 5]}, id="a place behind the end"),
        pytest.param({"inserted": [0, 5]}, id="a passage before its query"),
    ],
)
def test_a_search_that_lies_nowhere_is_left_out_and_the_text_is_whole(changes):
    found = shown(**failed_search(**changes))
    assert [step.kind for step in found.steps] == ["answer"]
    assert "".join(segment.text for segment in found.written) == found.sample.text


@pytest.mark.parametrize("span", [[10**6, 10**6 + 3], [1000, 1003]], ids=["outside the text", "where nothing is kept"])
def test_a_span_that_is_not_shown_marks_nothing(span):
    found = shown(**failed_search(span=span, found="abc", status="OK"))
    assert marked(found, found.steps[1].found) == ""


def test_what_was_found_in_the_answer_itself_is_marked_there():
    here = sample()["prompt_characters"]
    found = shown(**failed_search(span=[here, here + 2], found="Hm", status="OK"))
    assert marked(found, found.steps[1].found) == "Hm"
    assert "of prompt and answer" in found.steps[1].caption


@pytest.mark.parametrize(("query", "shown_below"), [("x(", ""), ("x" * 81, "x" * 81)], ids=["short", "long"])
def test_a_query_that_the_caption_cuts_stands_below_it(query, shown_below):
    assert shown(**failed_search(query=query)).steps[1].pattern == shown_below


def test_an_empty_query_is_shown():
    here = sample()["prompt_characters"]
    changes = {"query": "", "place": [here, here + 26], "inserted": [here + 17, here + 26]}
    found = shown(**failed_search(**changes) | {"text": "<search></search><nothing> 5\n"})
    assert found.steps[0].caption.startswith("Search 1 of 1, “”: nothing")
    assert "".join(segment.text for segment in found.written) == found.sample.text


def test_steps_are_plain_values_for_the_page():
    assert {"kind", "tokens", "caption", "pattern", "found", "record", "vertices", "edge", "walked"} == set(
        SHOWN.steps_as_data[0]
    )


def test_long_quotations_lose_their_end():
    assert quoted("x" * 100) == f"“{'x' * 80}…”"
