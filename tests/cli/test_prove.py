"""`recherche prove` from the command line."""

import json

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.constructions import catalogue, proof
from recherche.constructions.storage import load_model

runner = CliRunner()


def test_one_program_at_one_size_is_a_json_line_for_each_way_of_choosing():
    result = runner.invoke(app, ["prove", "ar-hybrid", "--n", "6", "--json"])
    assert result.exit_code == 0, result.output
    (line,) = [json.loads(text) for text in result.stdout.splitlines()]
    assert (line["theorem"], line["program"], line["failures"], line["exhaustive"]) == ("5.6", "ar-hybrid", 0, False)


def test_the_table_names_program_and_cases():
    result = runner.invoke(app, ["prove", "5.1", "index-transformer", "--n", "6"], env={"COLUMNS": "160"})
    assert result.exit_code == 0, result.output
    assert "oracle-recall" in result.stdout
    assert "random n <= 6" in result.stdout


def test_a_failure_is_exit_code_one_and_says_where(monkeypatch):
    monkeypatch.setattr(proof, "write", lambda construction, model, cases: [("1",) * 3 for case in cases])
    result = runner.invoke(app, ["prove", "index-transformer", "--n", "4"], env={"COLUMNS": "160"})
    assert result.exit_code == 1
    assert "the oracle has" in result.stdout


@pytest.mark.parametrize(
    ("edges", "code", "last"), [("a b\nb c\n", 0, "YES"), ("1 2\n2 3\n3 1\n", 1, "NO")], ids=["tree", "cycle"]
)
def test_a_graph_of_the_users_own_is_walked(tmp_path, edges, code, last):
    (tmp_path / "my.edgelist").write_text(edges)
    result = runner.invoke(app, ["prove", "istree-transformer", "--graph", str(tmp_path / "my.edgelist")])
    assert result.exit_code == code, result.output
    assert result.stdout.splitlines()[0].split()[-1] == last


def test_a_graph_needs_one_istree_program(tmp_path):
    (tmp_path / "my.edgelist").write_text("a b\n")
    result = runner.invoke(app, ["prove", "4.6", "--graph", str(tmp_path / "my.edgelist")])
    assert result.exit_code == 2
    assert "--graph runs one istree program" in result.output


def test_what_has_no_program_is_not_shown():
    result = runner.invoke(app, ["prove", "5.1", "--show"])
    assert result.exit_code == 2
    assert "oracle-recall has no program of its own" in result.output


def test_weights_are_exported(tmp_path):
    result = runner.invoke(app, ["prove", "index-hybrid", "--export", str(tmp_path), "--n", "32"])
    assert result.exit_code == 0, result.output
    assert load_model(tmp_path / "index-hybrid").shape.n_numbers == 32


def test_a_program_is_shown():
    result = runner.invoke(app, ["prove", "ar-transformer", "--show"])
    assert result.exit_code == 0
    assert "layer 3  attention     answer = number at the first token" in result.stdout


def test_weights_and_an_example_are_printed():
    result = runner.invoke(app, ["prove", "ar-hybrid", "--weights", "--example"])
    assert result.exit_code == 0
    assert "    value  number   ->  answer" in result.stdout
    assert result.stdout.splitlines()[-1] == "<s> 1 2 5 5 6 3 2 | 5"


def test_pages_are_about_every_theorem(tmp_path):
    result = runner.invoke(app, ["prove", "4.6", "--docs", str(tmp_path)])
    assert result.exit_code == 2
    assert "--docs writes about every theorem" in result.output


def test_a_construction_can_be_run_in_few_bits():
    enough = runner.invoke(app, ["prove", "index-hybrid", "--n", "4", "--precision", "53", "--json"])
    too_few = runner.invoke(app, ["prove", "index-hybrid", "--n", "4", "--precision", "7", "--json"])
    assert (enough.exit_code, too_few.exit_code) == (0, 1)


def test_an_unknown_program_is_refused_with_near_names():
    result = runner.invoke(app, ["prove", "istree-transfomer"])
    assert result.exit_code == 2
    assert "did you mean istree-transformer" in result.output


def test_every_program_can_be_named():
    assert "istree-rag" in catalogue.NAMES
