"""`recherche machine` from the command line."""

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app

runner = CliRunner()


def test_the_shipped_machines_are_listed():
    result = runner.invoke(app, ["machine", "list"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 7


def test_a_shipped_file_can_be_copied_and_run(tmp_path):
    shown = runner.invoke(app, ["machine", "show", "increment"])
    (tmp_path / "mine.yaml").write_text(shown.stdout)
    result = runner.invoke(app, ["machine", "run", str(tmp_path / "mine.yaml"), "11"])
    assert result.stdout.strip().endswith("tape: 100")


def test_the_simulator_shows_its_steps():
    result = runner.invoke(app, ["machine", "run", "increment", "1", "--show-trace"])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "cell 1: right reads 1, writes 1, R, right",
        "cell 2: right reads _, writes _, L, carry",
        "cell 1: carry reads 1, writes 0, L, carry",
        "cell 0: carry reads _, writes 1, S, done",
        "increment accepts '1' after 4 steps; tape: 10",
    ]


@pytest.mark.parametrize("by", ["hybrid", "rag", "cot"])
def test_a_network_takes_the_same_steps(by):
    result = runner.invoke(app, ["machine", "run", "increment", "1", "--by", by, "--show-trace"])
    assert result.exit_code == 0, result.output
    trace, verdict = result.stdout.splitlines()
    assert trace.endswith("@done YES")
    assert verdict == "increment accepts '1' after 4 steps; tape: 10"


def test_a_rejected_word_is_exit_code_one():
    assert runner.invoke(app, ["machine", "run", "palindrome", "ab"]).exit_code == 1


def test_a_machine_of_the_users_own_runs(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ndescription: accepts at the first blank\nblank: _\nalphabet: [a]\nstart: go\naccept: [end]\n"
        "reject: []\ntransitions: {go: {a: [a, R, go], _: [_, S, end]}}\n"
    )
    result = runner.invoke(app, ["machine", "run", str(tmp_path / "mine.yaml"), "aa", "--by", "hybrid"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["increment", "12"], "use only the symbols of its alphabet"),
        (["incremnt", "1"], "did you mean increment"),
        (["nowhere.yaml", "1"], "Cannot read the machine file"),
        (["palindrome", "abba", "--max-steps", "3"], "has not halted after 3 steps"),
    ],
    ids=["word", "name", "file", "bound"],
)
def test_bad_input_is_one_clear_error(arguments, message):
    result = runner.invoke(app, ["machine", "run", *arguments])
    assert result.exit_code == 2
    assert message in result.output
