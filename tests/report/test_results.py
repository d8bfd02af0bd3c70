import json
from collections.abc import Callable
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report.results import CellName, read_json_lines, read_results, read_run


@pytest.fixture
def run(make_run: Callable[..., Path], tmp_path: Path) -> Path:
    return make_run(tmp_path / "run")


def rewrite(path: Path, *, keep: Callable[[dict], bool]) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if keep(row)))


def record(run: Path, **changes: object) -> None:
    path = run / "reproduce.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_every_line_is_a_cell(run: Path):
    results = read_results(run)
    assert len(results) == 9
    assert {result.architecture for result in results} == {"transformer", "mamba", "hybrid"}


def test_a_cell_measured_again_counts_by_its_last_line(run: Path):
    lines = (run / "results.jsonl").read_text().splitlines()
    again = json.loads(lines[0]) | {"accuracy": 0.25, "accuracy_low": 0.2, "accuracy_high": 0.3}
    (run / "results.jsonl").write_text("\n".join([*lines, json.dumps(again)]) + "\n")
    results = read_results(run)
    assert len(results) == 9
    assert results[-1].accuracy == 0.25


def test_columns_of_other_sweeps_are_left_alone(run: Path):
    line = json.loads((run / "results.jsonl").read_text().splitlines()[0]) | {"message_bits": 12}
    (run / "results.jsonl").write_text(json.dumps(line) + "\n")
    assert read_results(run)[0].cell == line["cell"]


def test_a_folder_without_results_says_which_folder_to_name(tmp_path: Path):
    with pytest.raises(InputError, match=r"holds no results\.jsonl.*recherche reproduce --out"):
        read_results(tmp_path)


def test_empty_results_of_no_known_run_are_refused(run: Path):
    (run / "results.jsonl").write_text("")
    (run / "reproduce.json").unlink()
    with pytest.raises(InputError, match=r"is empty and no reproduce\.json"):
        read_run(run)


@pytest.mark.parametrize("results", ["", None], ids=["an empty file", "no file"])
def test_a_run_that_has_only_begun_is_a_run(run: Path, results: str | None):
    (run / "results.jsonl").unlink()
    if results is not None:
        (run / "results.jsonl").write_text(results)
    assert len(read_run(run).absent) == 9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"accuracy": 1.5}, "accuracy", id="a share above one"),
        pytest.param({"cell": "../../etc"}, "cell", id="a name that leaves the folder"),
        pytest.param({"cell": ".."}, "cell", id="a name that is no name"),
        pytest.param({"n_nodes": "many"}, "n_nodes", id="a number that is none"),
    ],
)
def test_a_line_that_is_no_result_is_named(run: Path, change: dict, message: str):
    lines = (run / "results.jsonl").read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | change)
    (run / "results.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"Line 3 of .* {message}: .*; measure it again"):
        read_results(run)


def test_a_run_of_failures_alone_is_a_run(tmp_path: Path):
    (tmp_path / "reproduce.json").write_text(json.dumps({"failed": [{"cell": "mamba-cot-n16", "error": "boom"}]}))
    run = read_run(tmp_path)
    assert run.results == ()
    assert [failure.error for failure in run.absent] == ["boom"]


def test_absent_cells_are_those_asked_for_without_a_result(run: Path):
    rewrite(run / "results.jsonl", keep=lambda row: row["cell"] not in ("mamba-cot-n16", "hybrid-cot-n16"))
    record(run, failed=[{"cell": "mamba-cot-n16", "error": "boom"}])
    assert {failure.cell: failure.error for failure in read_run(run).absent} == {
        "mamba-cot-n16": "boom",
        "hybrid-cot-n16": "",
    }


def test_a_damaged_record_is_named(run: Path):
    (run / "reproduce.json").write_text("{")
    with pytest.raises(InputError, match=r"reproduce\.json is not the record of a run"):
        read_run(run)


def test_results_without_a_record_are_enough(run: Path):
    (run / "reproduce.json").unlink()
    assert len(read_run(run).results) == 9
    assert read_run(run).absent == ()


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"step": 2')
    assert read_json_lines(path) == [{"step": 1}]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step"\n{"step": 2}\n')
    with pytest.raises(InputError, match=r"Line 1 of .* is not JSON"):
        read_json_lines(path)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        pytest.param("mamba-cot-n16", ("mamba", "cot", 16, ""), id="plain"),
        pytest.param("mamba-cot-n16-seed3", ("mamba", "cot", 16, ""), id="with a seed"),
        pytest.param("hybrid-direct-n64-2M-seed0", ("hybrid", "direct", 64, "2M"), id="with size and seed"),
    ],
)
def test_a_cell_name_tells_its_parts(name: str, parts: tuple):
    parsed = CellName.parse(name)
    assert parsed is not None
    assert (parsed.architecture, parsed.protocol, parsed.n_nodes, parsed.size) == parts


def test_a_name_of_another_scheme_has_no_parts():
    assert CellName.parse("my experiment") is None


def test_a_curriculum_that_stopped_early_is_not_finished(run: Path):
    result = read_results(run)[0]
    assert result.finished_curriculum
    assert not result.model_copy(update={"level_reached": 12}).finished_curriculum
