import json

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app

RUN = CliRunner()
GRID = """
summary: two models
d_model: 8
tasks:
  - {name: index, n: [2, 4], options: {n_symbols: 4, n_numbers: 4}}
models:
  attention: {layers: {mixer: attention, n_heads: 2}}
  linear-rnn: {layers: {mixer: linear-rnn, d_state: 4}}
training: {num_steps: 2, batch_size: 4, log_every: 1}
evaluation: {num_samples: 16, batch_size: 16, num_validation: 4}
"""


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "pair.yaml"
    path.write_text(GRID)
    return path


def run(*arguments):
    return RUN.invoke(app, ["sweep", *map(str, arguments), "--device", "cpu", "--jobs", "1"])


def words(result):
    return " ".join(result.output.split())


@pytest.mark.parametrize(("preset", "count"), [("quick", 56), ("zoology", 144)])
def test_a_dry_run_shows_the_points_and_makes_nothing(preset, count, tmp_path):
    shown = run("recall", "--preset", preset, "--dry-run", "--out", tmp_path / "out")
    assert shown.exit_code == 0
    assert f"{count} points of recall-{preset} to run" in words(shown)
    assert "gated-deltanet" in shown.output
    assert not (tmp_path / "out").exists()


def test_a_part_of_a_sweep_can_be_chosen(tmp_path):
    shown = run("recall", "--only", "index*-gru-*", "--dry-run", "--out", tmp_path / "out")
    assert "3 points of recall-quick to run" in words(shown)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("recal",), "There is no sweep 'recal'; did you mean recall"),
        (("recall", "--preset", "zoologie"), "did you mean zoology"),
        (("absent.yaml",), "Cannot read the sweep absent.yaml"),
        (("recall", "--only", "mambo"), "No cell of 'recall-quick' matches 'mambo'"),
    ],
)
def test_bad_input_is_refused_with_the_way_out(arguments, message, tmp_path):
    refused = run(*arguments, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert message in words(refused)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tasks:", "task:", "did you mean 'tasks'"),
        ("mixer: linear-rnn", "mixer: linear-rn", "There is no mixer 'linear-rn'; did you mean linear-rnn"),
        ("n_symbols", "n_symbol", "did you mean n_symbols"),
    ],
)
def test_a_bad_grid_is_one_clear_error(grid, old, new, message):
    grid.write_text(GRID.replace(old, new, 1))
    refused = run(grid, "--out", grid.parent / "out")
    assert refused.exit_code == 2
    assert message in words(refused)
    assert len(refused.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_sweep_runs_names_what_failed_and_goes_on(grid):
    out = grid.parent / "out"
    names = [line.split()[0] for line in run(grid, "--dry-run", "--out", out).output.splitlines() if "index-n4" in line]
    broken = next(name for name in names if "attention" in name)
    (out / "cells" / broken).mkdir(parents=True)
    (out / "sweep.json").write_text(json.dumps({"preset": "pair"}))
    (out / "cells" / broken / "training.safetensors").write_bytes(b"not weights")
    first = run(grid, "--out", out)
    assert first.exit_code == 1
    assert f"failed {broken}" in words(first)
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert [(row["mixer"], row["n"]) for row in rows] == [("linear-rnn", 2), ("linear-rnn", 4)]
    assert "failed: " in (out / "report.html").read_text()
    (out / "cells" / broken / "training.safetensors").unlink()
    second = run(grid, "--out", out)
    assert second.exit_code == 0, second.output
    assert "1 points of pair to run" in words(second)
    assert len((out / "results.jsonl").read_text().splitlines()) == 4
    assert RUN.invoke(app, ["report", str(out)]).exit_code == 0
