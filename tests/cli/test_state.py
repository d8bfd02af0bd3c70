from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.experiments.runs import load_run

RUN = CliRunner()
TEXT = "<s> 3 1 4 1 5 2 6 5"


def save(run: Path, folder: Path, *, text: str = TEXT, quantise: str = "float32") -> Any:
    (folder / "text").write_text(text)
    files = ["--text", str(folder / "text"), "--out", str(folder / "state")]
    return RUN.invoke(app, ["state", "save", "--run", str(run), *files, "--quantise", quantise])


def ask(run: Path, folder: Path, query: str = "7") -> Any:
    return RUN.invoke(app, ["state", "ask", "--run", str(run), "--state", str(folder / "state"), "--query", query])


@pytest.mark.parametrize("architecture", ["mamba", "transformer", "hybrid"])
def test_a_saved_state_answers_like_the_text_itself(untrained: Any, architecture: str, tmp_path: Path) -> None:
    run = untrained(architecture)
    saved = save(run, tmp_path)
    assert saved.exit_code == 0, saved.output
    assert "9 tokens in" in saved.stdout
    expected = load_run(run).generate(f"{TEXT} 7", max_new_tokens=64).text
    assert ask(run, tmp_path).stdout.strip() == expected


def test_a_coarser_state_is_smaller(untrained: Any, tmp_path: Path) -> None:
    run = untrained("mamba")
    save(run, tmp_path)
    full = (tmp_path / "state").stat().st_size
    save(run, tmp_path, quantise="int8")
    assert (tmp_path / "state").stat().st_size < full


def test_a_state_of_another_run_is_refused(untrained: Any, tmp_path: Path) -> None:
    save(untrained("mamba"), tmp_path)
    result = ask(untrained("transformer"), tmp_path)
    assert result.exit_code == 2
    assert "the state belongs to model" in result.stderr


def test_a_damaged_state_is_refused(untrained: Any, tmp_path: Path) -> None:
    run = untrained("mamba")
    save(run, tmp_path)
    (tmp_path / "state").write_bytes((tmp_path / "state").read_bytes()[:-3])
    result = ask(run, tmp_path)
    assert result.exit_code == 2
    assert "truncated" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"), [("", "at least one token"), ("<s> 99", "does not hold '99'")], ids=["empty", "unknown token"]
)
def test_a_bad_text_is_refused(untrained: Any, tmp_path: Path, text: str, message: str) -> None:
    result = save(untrained("mamba"), tmp_path, text=text)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_missing_file_is_refused(untrained: Any, tmp_path: Path) -> None:
    run = untrained("mamba")
    assert "Cannot read the state" in ask(run, tmp_path).stderr
    files = ["--text", str(tmp_path / "nowhere"), "--out", str(tmp_path / "state")]
    assert "Cannot read the text" in RUN.invoke(app, ["state", "save", "--run", str(run), *files]).stderr
