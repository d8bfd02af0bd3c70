import json

import pytest

from recherche.errors import ConfigError
from recherche.experiments import sweep as module
from recherche.experiments.files import read_json, read_json_lines
from recherche.experiments.lanes import Failure
from recherche.experiments.reproduce import cell_folder
from recherche.experiments.sweep import Sweep, make_sweep, points_left, run_sweep, write_curves


@pytest.fixture
def tiny(tiny_sweep, tmp_path) -> Sweep:
    (tmp_path / "tiny.yaml").write_text(tiny_sweep)
    return make_sweep(str(tmp_path / "tiny.yaml"), "quick")


@pytest.fixture
def in_this_process(monkeypatch):
    """Lanes without processes: the same outcome in a moment."""

    def run(cells, folder_of, *, jobs, device, on_message, work):
        outcome = module.Outcome({}, [], [])
        for name, cell in cells.items():
            try:
                outcome.results[name] = work(cell, folder_of(name), device=device)
                on_message(name, outcome.results[name])
            except Exception as error:  # a lane does not die of its cell
                outcome.failures.append(Failure(name, str(error)))
        return outcome

    monkeypatch.setattr(module, "run_in_lanes", run)


def run(sweep, out, *, only=None):
    return run_sweep(sweep, out, only=only, jobs=1, device="cpu", on_message=lambda name, message: None)


@pytest.mark.usefixtures("in_this_process")
def test_a_sweep_runs_and_is_skipped_the_second_time(tiny, tmp_path):
    out = tmp_path / "out"
    assert sorted(run(tiny, out).results) == sorted(tiny.cells)
    rows = read_json_lines(out / "results.jsonl")
    assert [row["n"] for row in rows] == [8, 16] * 3 + [2, 4] * 3
    assert {"cell", "mixer", "state_bits", "accuracy", "bound_accuracy", "config_hash"} <= set(rows[0])
    assert points_left(tiny, out, None) == {}
    assert run(tiny, out).results == {}
    assert read_json_lines(out / "results.jsonl") == rows
    record = read_json(out / "sweep.json")
    assert (record["preset"], record["seeds"], record["failed"]) == ("tiny", [0], [])


@pytest.mark.usefixtures("in_this_process")
def test_a_failed_point_is_named_and_the_others_finish(tiny, tmp_path):
    broken, *others = tiny.matching("mqar*")
    folder = cell_folder(tmp_path / "out", broken)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sweep.json").write_text(json.dumps({"preset": "tiny"}))
    folder.mkdir(parents=True)
    (folder / "training.safetensors").write_bytes(b"not weights")
    outcome = run(tiny, tmp_path / "out", only="mqar*")
    assert sorted(outcome.results) == sorted(others)
    assert [failure.cell for failure in outcome.failures] == [broken]
    assert read_json(tmp_path / "out" / "sweep.json")["failed"][0]["cell"] == broken


@pytest.mark.usefixtures("in_this_process")
def test_a_changed_grid_keeps_the_points_that_stayed(tiny, tiny_sweep, tmp_path):
    out = tmp_path / "out"
    run(tiny, out, only="index*")
    (tmp_path / "tiny.yaml").write_text(tiny_sweep.replace("d_state: [1, 4]", "d_state: [1, 2]"))
    changed = make_sweep(str(tmp_path / "tiny.yaml"), "quick")
    assert [name.rpartition("-")[0] for name in points_left(changed, out, "index*")] == ["index-n4-linear-rnn-dstate2"]
    assert len(write_curves(changed, out)) == 4


def test_a_filter_that_matches_nothing_lists_the_points(tiny):
    with pytest.raises(ConfigError, match="No cell of 'tiny' matches 'gru'; the cells are: mqar-n16-attention"):
        tiny.matching("gru")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("sweep.json", '{"preset": "other"}', "belongs to the sweep 'other', but 'tiny' was asked for"),
        ("thesis.tex", "years of work", "is not empty and was not made by a sweep"),
    ],
)
def test_a_folder_of_something_else_is_left_alone(tiny, tmp_path, name, content, message):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text(content)
    with pytest.raises(ConfigError, match=message):
        run(tiny, out)
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [(name, content)]
