import json
import warnings
from contextlib import nullcontext
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from recherche.cli.lm_teach import teach
from recherche.errors import ConfigError
from tests.lm.tiny_models import tiny_folder

SMALL = [
    *("--task", "phonebook", "--n", "1-3", "--steps", "2", "--batch-size", "2"),
    *("--num", "1", "--prose-tokens", "16", "--device", "cpu"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder(tmp_path_factory.mktemp("in") / "llama", "llama")


def run(*arguments: object):
    app = typer.Typer()
    app.command()(teach)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return CliRunner().invoke(app, [*map(str, arguments)])


def test_a_folder_is_taught(folder: Path, tmp_path: Path):
    held_out = ("--held-out-task", "keyvalue", "--held-out-n", 5, "--protocol", "search")
    result = run(folder, *SMALL, *held_out, "--lora", 2, "--lr", 0.01, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "keyvalue_n5_search" in result.output
    assert "loss of prose" in result.output
    record = json.loads((tmp_path / "out" / "teaching.json").read_text())
    assert record["config"]["sizes"] == [[1, 3]]
    assert (record["config"]["lora"], record["config"]["rate"], record["config"]["search_share"]) == (2, 0.01, 1.0)


def test_ctrl_c_saves_and_the_same_command_goes_on(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr("recherche.cli.train.interrupted", lambda: nullcontext([2]))
        result = run(folder, *SMALL, "--out", tmp_path / "out")
    assert result.exit_code == 130
    assert "the same command goes on" in result.output
    assert json.loads((tmp_path / "out" / "teaching.json").read_text())["finished"] is False
    assert run(folder, *SMALL, "--out", tmp_path / "out").exit_code == 0
    assert json.loads((tmp_path / "out" / "teaching.json").read_text())["finished"] is True


REFUSED = {
    "size": (["--n", "3-x"], "whole number is asked for, got 'x'"),
    "protocol": (["--protocol", "cot"], "search and direct, got cot"),
    "rank": (["--lora", "big"], "got 'big'"),
    "task": (["--task", "fonebook"], "did you mean phonebook"),
    "tracker": (["--report-to", "mlflo"], "no tracker 'mlflo'"),
    "precision": (["--precision", "float8"], "precision"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused(options, message, folder: Path, tmp_path: Path):
    result = run(folder, *SMALL, *options, "--out", tmp_path / "out")
    assert isinstance(result.exception, ConfigError)
    assert message in str(result.exception)


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    result = run(tmp_path / "none", *SMALL, "--out", tmp_path / "out")
    assert isinstance(result.exception, ConfigError)
