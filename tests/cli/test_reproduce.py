import json

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.errors import ConfigError

runner = CliRunner()


def run(*arguments):
    return runner.invoke(app, ["reproduce", *arguments])


def test_a_dry_run_shows_the_cells_and_makes_nothing(tmp_path):
    shown = run("--preset", "quick", "--only", "mamba", "--dry-run", "--device", "cpu", "--out", str(tmp_path / "out"))
    assert shown.exit_code == 0
    assert "mamba-retrieval-n16" in shown.output
    assert "3 cells of quick to run" in shown.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--preset", "quik"), "did you mean quick"),
        (("--only", "mambo"), "No cell of 'quick' matches 'mambo'"),
        (("--device", "cuda:77"), "cannot be used here"),
        (("--device", "abacus"), "cannot be used here"),
    ],
)
def test_bad_input_is_refused_with_the_way_out(arguments, message, tmp_path):
    refused = run(*arguments, "--out", str(tmp_path / "out"))
    assert refused.exit_code == 2
    assert message in " ".join(refused.output.split())
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_preset_is_not_touched(tmp_path):
    (tmp_path / "reproduce.json").write_text(json.dumps({"preset": "quick", "seeds": [0]}))
    refused = run("--preset", "smoke", "--device", "cpu", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "belongs to preset 'quick'" in " ".join(refused.output.split())
    assert [path.name for path in tmp_path.iterdir()] == ["reproduce.json"]


@pytest.mark.slow
def test_smoke_runs_through_and_is_skipped_the_second_time(tmp_path):
    first = run("--preset", "smoke", "--only", "direct", "--device", "cpu", "--jobs", "2", "--out", str(tmp_path))
    assert first.exit_code == 0, first.output
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [row["architecture"] for row in rows] == ["transformer", "mamba", "hybrid"]
    assert {row["measured_by"] for row in rows} == {"generation"}
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert {"figure.png", "figure.svg"} <= {path.name for path in tmp_path.iterdir()}
    second = run("--preset", "smoke", "--only", "direct", "--device", "cpu", "--out", str(tmp_path))
    assert "0 cells of smoke to run" in second.output


def test_refusals_are_errors_of_the_package():
    from recherche.cli.reproduce import choose_device

    with pytest.raises(ConfigError, match="choose cpu, cuda or auto"):
        choose_device("abacus")
    assert choose_device("cpu") == "cpu"
