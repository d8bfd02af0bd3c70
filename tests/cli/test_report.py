import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app

RUN = CliRunner()
RESULT = {
    "cell": "mamba-cot-n16",
    "architecture": "mamba",
    "protocol": "cot",
    "n_nodes": 16,
    "accuracy": 0.85,
    "accuracy_low": 0.83,
    "accuracy_high": 0.87,
    "num_samples": 1000,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "results.jsonl").write_text(json.dumps(RESULT) + "\n")
    return folder


def test_one_folder_is_drawn_again(folder: Path):
    result = RUN.invoke(app, ["report", str(folder)])
    assert result.exit_code == 0
    assert result.stdout.strip() == str(folder / "report.html")
    assert (folder / "figure.svg").is_file()


def test_several_folders_are_compared(folder: Path, tmp_path: Path):
    out = tmp_path / "both.html"
    result = RUN.invoke(app, ["report", str(folder), str(folder), "--out", str(out)])
    assert result.stdout.strip() == str(out)
    assert out.is_file()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path):
    result = RUN.invoke(app, ["report", str(tmp_path)])
    assert result.exit_code == 2
    assert "holds no results.jsonl" in result.stderr
