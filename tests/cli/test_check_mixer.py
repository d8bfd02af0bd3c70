"""The command, and every step of docs/own_models.md as a newcomer takes it."""

import json
import re
import sys

import pytest
from typer.testing import CliRunner

from recherche._lookup import IMPORT_VARIABLE
from recherche.cli.app import app
from recherche.mixers.contract import CHECKS
from tests.house.source import ROOT

runner = CliRunner()
BROKEN = ("h = torch.sigmoid(self.rate) * h + x_t", "h = torch.sigmoid(self.rate) * h + x_t + 1e-3")
SHORT = ("--device", "cpu", "--set", "plans.0.num_steps=2", "--set", "evaluation.num_samples=8")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The folder of the page, and a place for wrong versions; nothing of it stays imported."""
    page = (ROOT / "docs" / "own_models.md").read_text()
    (tmp_path / "mine").mkdir()
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        name = "decay" if "class DecayLayer" in block else "total"
        (tmp_path / "mine" / f"{name}.py").write_text(block)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(IMPORT_VARIABLE, "")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    yield tmp_path / "mine"
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def forget_mine():
    """What a new process would not have imported."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def test_a_mixer_of_the_package_keeps_every_part():
    done = runner.invoke(app, ["check-mixer", "linear-rnn", "--option", "d_state=4", "--json"])
    assert done.exit_code == 0, done.output
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["check"] for record in records] == list(CHECKS)
    assert all(record["passed"] and record["mixer"] == "linear-rnn" for record in records)


@pytest.mark.slow
def test_the_mixer_of_the_page_keeps_every_part(mine):
    done = runner.invoke(app, ["check-mixer", "mine.decay:DecayLayer"])
    assert done.exit_code == 0, done.output


def test_a_wrong_mixer_is_told_what_differs(mine):
    path = mine / "decay.py"
    path.write_text(path.read_text().replace(*BROKEN))
    done = runner.invoke(app, ["check-mixer", "mine.decay:DecayLayer", "--json"])
    assert done.exit_code == 1
    wrong = {
        record["check"]: record["problem"]
        for record in map(json.loads, done.stdout.splitlines())
        if "problem" in record
    }
    assert "outputs from init_state should agree" in wrong["forward_equals_steps"]


def test_the_task_and_the_mixer_of_the_page_are_trained_and_found_again(mine):
    train = ["train", "--out", "run", "--task", "mine.total:Total", "--n", "4", "--mixer", "mine.decay:DecayLayer"]
    done = runner.invoke(app, [*train, *SHORT, "--set", "plans.0.batch_size=4"])
    assert done.exit_code == 0, done.output
    forget_mine()
    evaluate = ["eval", "--run", "run", "--num", "8", "--device", "cpu"]
    done = runner.invoke(app, ["--import", "mine.decay", "--import", "mine.total", *evaluate])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["num_samples"] == 8


def test_a_run_of_somebody_else_imports_nothing(mine, monkeypatch):
    train = ["train", "--out", "run", "--task", "mine.total:Total", "--n", "4", "--mixer", "mine.decay:DecayLayer"]
    assert runner.invoke(app, [*train, *SHORT, "--set", "plans.0.batch_size=4"]).exit_code == 0
    forget_mine()
    monkeypatch.setenv(IMPORT_VARIABLE, "")
    done = runner.invoke(app, ["eval", "--run", "run", "--num", "8", "--device", "cpu"])
    assert done.exit_code != 0
    assert "imports nothing by itself" in " ".join(done.output.split())
    assert not any(name.partition(".")[0] == "mine" for name in sys.modules)


def test_examples_of_the_task_of_the_page_are_solved_by_definition(mine):
    done = runner.invoke(app, ["sample", "mine.total:Total", "--n", "4", "--num", "3", "--format", "jsonl"])
    assert done.exit_code == 0, done.output
    for line in map(json.loads, done.stdout.splitlines()):
        assert line["target"] == [str((sum(map(int, line["prompt"][1:])) - 1) % 4 + 1)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mambo",), "did you mean mamba"),
        (("mamba", "--option", "d_stat=4"), "d_state"),
        (("mamba", "--option", "d_state=0"), "MambaLayer cannot be built"),
        (("no_such_module:Layer",), "cannot be imported"),
        (("json:loads",), "must be a subclass of LayerConfig"),
    ],
)
def test_what_is_no_mixer_is_refused(words, message, monkeypatch):
    monkeypatch.setenv(IMPORT_VARIABLE, "")
    done = runner.invoke(app, ["check-mixer", *words])
    assert done.exit_code != 0
    assert message in " ".join(done.output.split())
