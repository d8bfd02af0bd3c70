import pytest
import typer
from typer.testing import CliRunner

from recherche.cli.language import language
from recherche.errors import ConfigError
from recherche.experiments.demo.stages import Demo
from recherche.experiments.lanes import Failure, Outcome

APP = typer.Typer()
APP.command()(language)


def run(*arguments):
    return CliRunner().invoke(APP, ["--preset", "smoke", *map(str, arguments)])


def words(result):
    return " ".join(result.output.split())


@pytest.mark.slow
def test_the_command_ends_with_a_table_and_a_page(tmp_path):
    shown = run("--out", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    assert "searching" in shown.output
    assert (tmp_path / "out" / "eval" / "report.html").exists()


@pytest.mark.parametrize(
    ("outcome", "code", "said"),
    [
        (Outcome({}, [], ["mamba"]), 130, "Interrupted; nothing is lost."),
        (Outcome({}, [Failure("mamba", "no room")], []), 1, "failed mamba: no room"),
    ],
    ids=["interrupted", "failed"],
)
def test_what_was_not_finished_is_said(outcome, code, said, tmp_path, monkeypatch):
    monkeypatch.setattr(Demo, "make_tokenizer", lambda demo: demo.tokenizer.mkdir())
    monkeypatch.setattr(Demo, "enrolments", lambda demo: {})
    monkeypatch.setattr(Demo, "train", lambda demo, jobs, on_message: outcome)
    shown = run("--out", tmp_path / "out", "--jobs", "1")
    assert shown.exit_code == code
    assert said in words(shown)


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    shown = run("--out", tmp_path)
    assert isinstance(shown.exception, ConfigError)
