from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recherche.report.results import RunRecord
from recherche.report.text_findings import text_caption, text_findings, text_headline
from recherche.report.text_results import TextPoint, TextRun
from tests.report.made_up_texts import line, points


def run_of(found: Sequence[TextPoint]) -> TextRun:
    return TextRun(folder=Path("runs/x"), record=RunRecord(), points=tuple(found))


def pair(direct: float, search: float, **changes: Any) -> TextRun:
    """One model at one n by both protocols, with intervals of 0.1 on each side."""
    rows = [
        line("my-mamba", protocol=name, accuracy=a, accuracy_low=a - 0.1, accuracy_high=min(1.0, a + 0.1), **changes)
        for name, a in (("direct", direct), ("search", search))
    ]
    return run_of([TextPoint.model_validate(row) for row in rows])


@pytest.mark.parametrize(
    ("direct", "search", "verdict"),
    [
        pytest.param(0.2, 1.0, "holds", id="above"),
        pytest.param(0.8, 0.95, "cannot be told", id="the intervals overlap"),
        pytest.param(0.9, 0.2, "does not hold", id="below"),
    ],
)
def test_searching_is_held_against_the_direct_answer_by_their_intervals(direct, search, verdict):
    first = text_findings(pair(direct, search))[0]
    assert first.verdict == verdict
    assert first.sentence.startswith(f"my-mamba, phonebook at n = 10: searching {search:.3f} [")


@pytest.mark.parametrize(
    ("accuracies", "verdict", "words"),
    [
        pytest.param((1.0, 0.995, 0.99), "holds", "up to n = 1,000, the largest measured", id="to the end"),
        pytest.param(
            (1.0, 0.98, 1.0), "does not hold", "up to n = 10, and is below 0.99 at n = 100", id="a dip ends it"
        ),
        pytest.param((0.5, 1.0, 1.0), "does not hold", "is below 0.99 at n = 10 (0.500), the smallest", id="never"),
    ],
)
def test_how_far_searching_holds_is_read_off_its_curve(accuracies, verdict, words):
    rows = [
        line("my-mamba", protocol="search", n=n, accuracy=a) for n, a in zip((10, 100, 1000), accuracies, strict=True)
    ]
    [finding] = [
        f for f in text_findings(run_of([TextPoint.model_validate(row) for row in rows])) if "searching" in f[1]
    ]
    assert finding.verdict == verdict
    assert words in finding.sentence


def test_a_state_that_is_too_small_is_named_from_where_it_is():
    sentences = [finding.sentence for finding in text_findings(run_of(points()))]
    [found] = [sentence for sentence in sentences if "is smaller than" in sentence]
    assert found.startswith("my-mamba, phonebook: from n = 1,000 on the state (9k bits) is smaller than the 23.2k bits")


def test_the_headline_names_tasks_models_and_the_largest_n():
    head = text_headline(run_of(points()))
    assert head.title == "phonebook and variables: 2 models, direct beside searching"
    assert "my-mamba 0.020 direct and 1.000 searching (n = 1,000)" in head.sentence


def test_nothing_measured_says_so():
    empty = run_of([])
    assert text_headline(empty).title == "Nothing is measured yet"
    assert (text_findings(empty), text_caption(empty)) == ([], [])


@pytest.mark.parametrize(("required", "count"), [(100.0, 3), (None, 2)], ids=["with a bound", "without"])
def test_the_caption_explains_the_bound_where_there_is_one(required, count):
    assert len(text_caption(pair(0.5, 1.0, required_bits=required))) == count
