import json
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report.sweep_results import is_sweep, lines_of, read_sweep
from tests.report.made_up_sweep import points, write_sweep


def test_a_sweep_is_read_with_its_record(tmp_path: Path):
    run = read_sweep(write_sweep(tmp_path / "recall", cells=["lost"], failed=[{"cell": "broken", "error": "boom"}]))
    assert (run.name, run.record.preset, run.tasks) == ("recall", "recall-quick", ("mqar", "index"))
    assert len(run.points) == 2 * 5 * 3
    assert {point.n for point in run.at_largest_n("index")} == {32}
    assert [(failure.cell, failure.error) for failure in run.absent] == [("lost", ""), ("broken", "boom")]


def test_a_sweep_without_a_point_is_one_too(tmp_path: Path):
    (tmp_path / "sweep.json").write_text(json.dumps({"preset": "mine", "cells": ["a"]}))
    assert is_sweep(tmp_path)
    assert read_sweep(tmp_path).points == ()


def test_points_of_one_model_and_size_make_a_line():
    lines = lines_of(point for point in points() if point.task == "mqar")
    assert list(lines) == [
        ("attention", ""),
        ("mamba", "d_state 2"),
        ("mamba", "d_state 16"),
        ("gla", ""),
        ("hybrid", ""),
    ]
    assert {tuple(point.n for point in line) for line in lines.values()} == {(8, 16, 32)}


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    assert not is_sweep(tmp_path)
    with pytest.raises(InputError, match=r"holds no sweep\.json; name a folder that `recherche sweep"):
        read_sweep(tmp_path)


def test_a_damaged_line_is_named(tmp_path: Path):
    folder = write_sweep(tmp_path)
    with (folder / "results.jsonl").open("a") as file:
        file.write('{"cell": "x", "accuracy": 2}\n')
    with pytest.raises(InputError, match=r"Line 31 of .* is not a result: mixer: Field required"):
        read_sweep(folder)
