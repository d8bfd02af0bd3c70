from pathlib import Path

import pytest

from recherche.report.examples import Example, Search, read_examples
from recherche.report.trace_steps import show

PROMPT = ("<s>", "1", "~", "2", "3", "~", "2", "<d>")
EDGES = ((1, 2), (3, 2))


def example(text: str, *, retrieved: tuple[int, ...] = (), searches: tuple[Search, ...] = (), answer="YES") -> Example:
    generated = tuple(text.split())
    flags = tuple(i in retrieved for i in range(len(generated)))
    return Example(
        edges=EDGES, prompt=PROMPT, generated=generated, retrieved=flags, searches=searches, answer=answer, truth="YES"
    )


SEARCHING = example(
    "<StartSearch> 1 ~ <EndSearch> 2 1 - 2 <StartSearch> 2 - <EndSearch> 1 <StartSearch> 3 - <EndSearch> FAILED YES",
    retrieved=(4, 12, 17),
    searches=(
        Search(query="1 ~", pattern="p", result=("2",), span=(3, 4), position=3),
        Search(query="2 -", result=("1",), span=(13, 14), position=11),
        Search(query="3 -", status="NO_MATCH", result=("FAILED",), span=None, position=16),
    ),
)


def test_searches_records_and_the_answer_are_steps():
    assert [step.kind for step in show(SEARCHING).steps] == ["search", "record", "search", "search", "answer"]


def test_a_search_shows_what_it_found_and_the_edge_around_it():
    first, _, second, third, _ = show(SEARCHING).steps
    assert (first.tokens, first.found, first.record, first.edge) == ((8, 13), (3, 4), (1, 4), 0)
    assert (second.found, second.record, second.edge) == ((13, 14), (13, 16), 0)
    assert (third.found, third.record, third.edge) == (None, None, None)
    assert first.vertices == ("1", "2")
    assert first.pattern == "p"


def test_captions_say_what_was_asked_and_found():
    captions = [step.caption for step in show(SEARCHING).steps]
    assert captions == [
        "Search 1 of 3, first edge at 1: found 2.",
        "Records that 1 is the parent of 2.",
        "Search 2 of 3, parent of 2: found 1.",
        "Search 3 of 3, parent of 3: found nothing (NO_MATCH).",
        "Answers YES: right.",
    ]


def test_a_tour_walks_from_vertex_to_vertex():
    steps = show(example("1 2 3 2 1 YES")).steps
    assert [step.kind for step in steps] == ["vertex"] * 5 + ["answer"]
    assert [step.edge for step in steps] == [None, 0, 1, 1, 0, None]
    assert [step.walked for step in steps] == [False, True, True, True, True, False]


def test_a_step_along_no_edge_is_said_so():
    steps = show(example("1 3 1 - 3 NO", answer="NO")).steps
    assert [step.caption for step in steps] == [
        "Starts at 1.",
        "Goes from 1 to 3, though no edge joins them.",
        "Records that 1 is the parent of 3; there is no such edge.",
        "Answers NO: wrong, for the answer is YES.",
    ]
    assert not any(step.walked for step in steps)


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(example("", answer=None), id="nothing written"),
        pytest.param(example("<StartSearch> <EndSearch> - - - ~ 99 YES YES"), id="no sense"),
        pytest.param(
            example("1 2", searches=(Search(query="", result=("x",), span=(900, 901), position=0),)),
            id="a span outside",
        ),
        pytest.param(example("1 2", searches=(Search(query="1 ~", position=77),)), id="a search outside"),
        pytest.param(
            example("1 2 3", searches=(Search(query="q", position=1), Search(query="q", position=1))),
            id="one place twice",
        ),
        pytest.param(SEARCHING, id="a proper one"),
    ],
)
def test_every_token_is_in_exactly_one_step(odd: Example):
    shown = show(odd, n_nodes=3)
    covered = [i for step in shown.steps for i in range(*step.tokens)]
    assert covered == list(range(len(odd.prompt), len(odd.context)))
    assert len(shown.kinds) == len(odd.context)


def test_kinds_tell_retrieved_control_and_answer_apart():
    kinds = show(SEARCHING).kinds[len(PROMPT) :]
    assert (
        kinds
        == (
            *("control", "", "", "control", "retrieved", "", "", ""),
            *("control", "", "", "control", "retrieved", "control", "", "", "control", "retrieved", "answer"),
        )[: len(kinds)]
    )


def test_the_prompt_is_cut_into_edges():
    assert show(SEARCHING).prompt_pieces == [(0, 1), (1, 4), (4, 7), (7, 8)]


def test_the_found_token_of_a_real_trace_is_the_result(quick_run: Path):
    for row in read_examples(quick_run / "cells" / "hybrid-retrieval-n16"):
        found = [step for step in show(row).steps if step.kind == "search" and step.found]
        assert found
        assert all(
            row.context[slice(*step.found)] == row.context[step.tokens[1] - 1 : step.tokens[1]] for step in found
        )
