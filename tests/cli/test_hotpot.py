import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.experiments import language_models
from recherche.experiments.hotpot import RECORD
from recherche.experiments.language_models import Machine
from tests.experiments.made_up_readers import Reader, write_folder
from tests.lm.tiny_models import tiny_folder
from tests.texts.made_up_hotpot import write_hotpot

RUN = CliRunner()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_hotpot(tmp_path / "dev.json")


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders of models that are stood in for."""
    made = {"mamba": Reader(memory=2), "llama": Reader(foolish=("Were",))}
    monkeypatch.setattr(language_models, "Machine", partial(Machine, load=lambda folder, **_: made[folder.name]))
    return [write_folder(tmp_path / name, name) for name in made]


def run(*arguments: Any) -> Any:
    return RUN.invoke(app, ["hotpot", *map(str, arguments), "--device", "cpu"], env={"COLUMNS": "160"})


def words(result: Any) -> str:
    return " ".join(result.output.split())


def test_figure_6_is_measured_and_drawn(data: Path, readers: list[Path], tmp_path: Path):
    out = tmp_path / "out"
    done = run(*readers, "--data", data, "--paragraphs", "2,6", "--out", out)
    assert done.exit_code == 0, done.output
    assert "16 points of 2 models to measure" in words(done)
    assert "mamba direct last 6 1.000" in words(done)
    assert f"report: {out / 'report.html'}" in done.output
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert len(rows) == 16
    assert (out / RECORD).exists()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "(b) facts last" in page
    assert "searching, 6 paragraphs" in page
    (out / "report.html").unlink()
    redrawn = RUN.invoke(app, ["report", str(out)])
    assert redrawn.exit_code == 0, redrawn.output
    assert (out / "report.html").read_text(encoding="utf-8") == page


def test_a_dry_run_shows_points_and_a_prompt_and_makes_nothing(data: Path, readers: list[Path], tmp_path: Path):
    shown = run(*readers, "--data", data, "--protocol", "search", "--dry-run", "--out", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    assert "llama-search-last-n8" in shown.output
    assert "<search>sentence with" in shown.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--paragraphs", "2,x"), "--paragraphs takes whole numbers with commas between them"),
        (("--paragraphs", "12"), "numbers from 2 to 10, got [12]"),
        (("--order", "lost"), "There is no order 'lost'; did you mean last"),
        (("--protocol", "cot"), "There is no protocol 'cot'"),
        (("--shots", "40"), "40 examples were asked for, and of 24 questions"),
        (("--shots-file", "absent.json"), "Cannot read the questions absent.json"),
        (("--dtype", "int3"), "int3"),
    ],
)
def test_bad_input_is_refused_with_the_way_out(arguments: tuple[str, ...], message: str, data: Path, tmp_path: Path):
    folder = tiny_folder(tmp_path / "model", "llama")
    refused = run(folder, "--data", data, *arguments, "--out", tmp_path / "out")
    assert refused.exit_code == 2, refused.output
    assert message in words(refused)
    assert len(refused.stderr.strip().splitlines()) == 1


def test_a_file_of_another_setting_is_refused(data: Path, tmp_path: Path):
    data.write_text(data.read_text()[:-100])
    refused = run(write_folder(tmp_path / "model"), "--data", data, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "is cut short" in words(refused)


def test_a_real_model_that_answers_nothing_is_said_so(data: Path, tmp_path: Path):
    folder, out = tiny_folder(tmp_path / "model", "mamba"), tmp_path / "out"
    refused = run(folder, "--data", data, "--shots", 0, "--max-new-tokens", 4, "--out", out)
    assert refused.exit_code == 2, refused.output
    assert "None of 24 questions is answered by every model with two paragraphs" in words(refused)
    [answers] = (out / "points").iterdir()
    assert len((answers / "samples.jsonl").read_text().splitlines()) == 24
