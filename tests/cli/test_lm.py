"""The commands on language models, as a user types them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.lm.markers import markers_of
from tests.lm.tiny_models import tiny_folder
from tests.lm.tokenizers import load_tokenizer

RUN = CliRunner()
TEXT = "Ada Berg: 555-1234\r\nCleo Lund: naïve\n"


@pytest.fixture(scope="module", params=["mamba", "llama"])
def folder(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder(tmp_path_factory.mktemp("lm") / request.param, request.param)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_bytes(TEXT.encode())
    return path


def run(*words: Any) -> Any:
    return RUN.invoke(app, ["lm", *map(str, words)])


def record(*words: Any) -> dict[str, Any]:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_prepared_folder_has_search_tokens_and_answers(folder: Path, text: Path, tmp_path: Path) -> None:
    done = run("prepare", folder, "--out", tmp_path / "ready")
    assert done.exit_code == 0, done.output
    assert markers_of(load_tokenizer("byte-level", tmp_path / "ready")) is not None
    again = run("prepare", folder, "--out", tmp_path / "ready")
    assert again.exit_code == 2
    assert "not empty" in " ".join(again.stderr.split())
    answer = record("ask", tmp_path / "ready", "--text", text, "--question", "Who?", "--max-new-tokens", 9)
    assert len(answer["tokens"]) <= 9
    assert set(answer) == {"text", "answer_text", "searches", "tokens", "generated", "reason"}


def test_what_a_state_answers_is_what_the_text_answers(folder: Path, text: Path, tmp_path: Path) -> None:
    options = ("--question", "Who is Ada?", "--max-new-tokens", 12, "--stop", "")
    for protocol in ("direct", "search"):
        whole = record("ask", folder, "--text", text, *options, "--protocol", protocol)
        saved = RUN.invoke(
            app, ["state", "save", "--hf", str(folder), "--text", str(text), "--out", str(tmp_path / "book.state")]
        )
        assert saved.exit_code == 0, saved.output
        assert "tokens in" in saved.stdout
        assert record("ask", folder, "--state", tmp_path / "book.state", *options, "--protocol", protocol) == whole


def test_searches_are_listed(folder: Path, text: Path) -> None:
    done = run("ask", folder, "--text", text, "--question", "Who?", "--max-new-tokens", 4, "--show-searches")
    assert done.exit_code == 0, done.output
    assert "The model made no search." in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--question", "a"], "either --text", id="neither text nor state"),
        pytest.param(["--text", "nowhere.txt", "--question", "a"], "Cannot read the text", id="no such text"),
        pytest.param(
            ["--text", "TEXT", "--question", "a", "--protocol", "serch"], "did you mean search", id="protocol"
        ),
        pytest.param(["--text", "TEXT", "--question", "a", "--dtype", "float8"], "no number type", id="number type"),
        pytest.param(["--text", "TEXT", "--question", "a", "--device", "abacus"], "cannot be used here", id="device"),
    ],
)
def test_bad_input_is_one_sentence(folder: Path, text: Path, words: list[str], said: str) -> None:
    done = run("ask", folder, *(str(text) if word == "TEXT" else word for word in words))
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_folder_that_is_not_there_is_one_sentence(text: Path) -> None:
    done = run("ask", "./nowhere", "--text", text, "--question", "a")
    assert done.exit_code == 2
    assert "There is no folder" in done.stderr
