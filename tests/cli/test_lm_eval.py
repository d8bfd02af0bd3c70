import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from recherche.cli.app import refuse_politely
from recherche.cli.lm_eval import measure, split
from recherche.cli.report import report
from recherche.errors import ConfigError
from tests.lm.tiny_models import tiny_folder

RUN = CliRunner()


def run(command, *arguments):
    """A command by itself, with the politeness of the whole program."""

    class Polite(typer.core.TyperCommand):
        def invoke(self, ctx):
            return refuse_politely(super().invoke, ctx)

    alone = typer.Typer()
    alone.command(cls=Polite)(command)
    return RUN.invoke(alone, [*map(str, arguments)])


def words(result):
    return " ".join(result.output.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tiny_folder(tmp_path_factory.mktemp("models") / "my-llama", "llama", max_position_embeddings=1200)


@pytest.mark.parametrize(("listed", "kind", "expected"), [("a, b,", str, ["a", "b"]), ("10,3", int, [10, 3])])
def test_values_are_listed_with_commas(listed, kind, expected):
    assert split(listed, kind, what="--n") == expected


def test_what_is_no_number_is_refused():
    with pytest.raises(ConfigError, match="--n takes whole numbers"):
        split("10,many", int, what="--n")


def test_a_dry_run_shows_the_points_and_makes_nothing(folder, tmp_path):
    shown = run(measure, folder, "--dry-run", "--out", tmp_path / "out", "--n", "10,30", "--only", "*search*")
    assert shown.exit_code == 0
    assert "4 of 4 points to measure" in words(shown)
    assert "my-llama-keyvalue-search-n30" in shown.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--task", "phonebok"), "did you mean phonebook", id="task"),
        pytest.param(("--protocol", "both"), "There is no protocol 'both'", id="protocol"),
        pytest.param(("--n", "ten"), "--n takes whole numbers", id="n"),
        pytest.param(("--only", "gru"), "matches 'gru'", id="only"),
        pytest.param(("--device", "abacus"), "The device 'abacus' cannot be used", id="device"),
        pytest.param(("--num", "0"), "0 texts", id="no text"),
        pytest.param(("--batch-size", "0"), "one at least, got 0", id="no batch"),
    ],
)
def test_bad_input_is_refused_with_the_way_out(folder, arguments, message, tmp_path):
    refused = run(measure, folder, *arguments, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert message in words(refused)
    assert not (tmp_path / "out").exists()


def test_a_missing_folder_is_refused(tmp_path):
    refused = run(measure, tmp_path / "nowhere")
    assert refused.exit_code == 2
    assert "holds no config.json" in words(refused)


def test_a_tiny_model_is_measured_once_and_its_page_drawn_again(folder, tmp_path):
    out = tmp_path / "out"
    arguments = (folder, "--task", "phonebook", "--n", "2,200", "--num", "3", "--batch-size", "2", "--out", out)
    first = run(measure, *arguments)
    assert first.exit_code == 0, first.output
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert [(row["n"], row["protocol"], row["refused"] is None) for row in rows] == [
        (2, "direct", True),
        (2, "search", True),
        (200, "direct", False),
        (200, "search", False),
    ]
    assert "exceed the 1,200 positions of this llama" in rows[2]["refused"]
    assert "refused" in words(first)
    again = run(measure, *arguments)
    assert "0 of 4 points to measure" in words(again)
    page = (out / "report.html").read_text()
    (out / "report.html").unlink()
    assert run(report, out).exit_code == 0
    assert (out / "report.html").read_text() == page


def test_a_folder_without_tokenizer_fails_with_one_sentence_a_point(folder, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((folder / name).read_bytes())
    done = run(measure, bare, "--task", "phonebook", "--n", "2", "--num", "1", "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert "failed bare-phonebook-direct-n2" in words(done)
    assert "no tokenizer that can be read" in words(done)
