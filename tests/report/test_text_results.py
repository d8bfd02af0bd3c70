import json
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report.text_results import TextPoint, is_text_run, read_text_run, sizes_of
from tests.report.made_up_texts import line, lines, points, write_text_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_text_run(tmp_path / "out")


def test_a_folder_is_read_with_its_models_and_tasks_in_order(folder: Path):
    run = read_text_run(folder)
    assert (run.models, run.tasks) == (("my-mamba", "my-llama"), ("phonebook", "variables"))
    assert (len(run.points), run.absent) == (24, ())


def test_a_curve_has_the_measured_points_by_growing_n(folder: Path):
    run = read_text_run(folder)
    assert [measured.point.n for measured in run.line("my-mamba", "phonebook", "direct")] == [10, 100, 1000]
    assert [measured.accuracy for measured in run.line("my-mamba", "phonebook", "direct")] == [0.98, 0.41, 0.02]
    assert [measured.point.n for measured in run.line("my-llama", "variables", "direct")] == [
        10,
        100,
    ]  # one was refused


def test_a_point_that_was_measured_again_counts_by_its_last_line(folder: Path):
    with (folder / "results.jsonl").open("a") as file:
        file.write(json.dumps(line("my-mamba", accuracy=0.5)) + "\n")
    run = read_text_run(folder)
    assert len(run.points) == 24
    assert run.line("my-mamba", "phonebook", "direct")[0].accuracy == 0.5


def test_points_without_a_line_are_absent_with_their_error(tmp_path: Path):
    run = read_text_run(write_text_run(tmp_path, cells=["a", "b"], failed=[{"cell": "b", "error": "boom"}]))
    assert [(failure.cell, failure.error) for failure in run.absent] == [("a", ""), ("b", "boom")]


def test_sizes_are_distinct_and_sorted():
    assert sizes_of(points()) == (10, 100, 1000)


def test_samples_lie_in_the_folder_of_their_point(folder: Path):
    run = read_text_run(folder)
    last = run.line("my-mamba", "phonebook", "search")[-1].point
    assert (
        run.samples_path(last) == folder / "points" / "my-mamba-phonebook-search-n1000-0123456789ab" / "samples.jsonl"
    )


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"accuracy": 1.5}, id="more than all"),
        pytest.param({"point": "../elsewhere"}, id="a name that leaves the folder"),
        pytest.param({"point": ".."}, id="the folder above"),
        pytest.param({"config_hash": "../x"}, id="a hash that leaves the folder"),
        pytest.param({"n": "many"}, id="no number"),
    ],
)
def test_a_line_that_is_no_result_is_refused_with_its_number(folder: Path, changes):
    rows = [*lines()[:2], line("my-mamba") | changes]
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=r"Line 3 of .*results.jsonl is not a result"):
        read_text_run(folder)


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    assert not is_text_run(tmp_path)
    with pytest.raises(InputError, match=r"holds no language.json"):
        read_text_run(tmp_path)


def test_further_columns_do_no_harm():
    assert TextPoint.model_validate(line("my-mamba") | {"new": 1}).n == 10
