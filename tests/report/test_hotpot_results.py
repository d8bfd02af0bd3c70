import json
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report.hotpot_results import is_hotpot, read_hotpot_run
from tests.report.made_up_hotpot_run import write_hotpot_run


def test_a_measurement_is_read_with_its_record(tmp_path: Path):
    folder = write_hotpot_run(tmp_path / "h", failed=[{"cell": "phi-direct-last-n10", "error": "boom"}])
    run = read_hotpot_run(folder)
    assert (run.name, run.models, run.orders, run.sizes) == (
        "h",
        ("phi", "mamba", "hybrid"),
        ("random", "last"),
        (2, 4, 6, 8),
    )
    assert (run.choice.num_asked, len(run.choice.kept), run.record.seeds) == (1234, 350, (0,))
    assert [point.n for point in run.line("mamba", "search", "last")] == [2, 4, 6, 8]
    assert [(failure.cell, failure.error) for failure in run.absent] == [("phi-direct-last-n10", "boom")]
    assert [sample.right for sample in run.samples(run.points[0])] == [True, False]


def test_a_point_is_held_against_two_paragraphs_of_the_same_protocol(tmp_path: Path):
    run = read_hotpot_run(write_hotpot_run(tmp_path))
    assert run.base(run.line("mamba", "direct", "random")[-1]) == 1.0
    assert run.base(run.line("mamba", "search", "random")[-1]) == pytest.approx(0.82)
    lines = (tmp_path / "results.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_text("".join(line for line in lines if '"n": 2,' not in line))
    run = read_hotpot_run(tmp_path)
    assert run.base(run.points[0]) is None


def test_an_interrupted_choice_is_a_measurement_too(tmp_path: Path):
    (tmp_path / "hotpot.json").write_text(json.dumps({"preset": "hotpot", "cells": ["a"]}))
    assert is_hotpot(tmp_path)
    run = read_hotpot_run(tmp_path)
    assert (run.points, run.choice.kept) == ((), ())


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    assert not is_hotpot(tmp_path)
    with pytest.raises(InputError, match=r"holds no hotpot\.json; name a folder that `recherche hotpot"):
        read_hotpot_run(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("hotpot.json", '{"num_asked": "many"}', r"hotpot\.json is damaged: num_asked"),
        ("results.jsonl", '{"point": "x"}\n', "Line 1 of .* is not a result: folder: Field required"),
    ],
)
def test_a_damaged_file_is_named(name: str, text: str, message: str, tmp_path: Path):
    write_hotpot_run(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_hotpot_run(tmp_path)


def test_answers_cannot_be_read_from_elsewhere(tmp_path: Path):
    write_hotpot_run(tmp_path)
    text = (tmp_path / "results.jsonl").read_text()
    (tmp_path / "results.jsonl").write_text(text.replace('"answers": "phi', '"answers": "../phi'))
    with pytest.raises(InputError, match="answers: String should match pattern"):
        read_hotpot_run(tmp_path)
