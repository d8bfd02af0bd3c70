import hashlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.experiments.runs import load_run
from recherche.games.protocol import MAGIC, send
from recherche.games.quantisers import quantiser_of
from recherche.mixers.state import state_bits

RUN = CliRunner()
TEXT = "<s> 3 1 4 1 5 2 6 5"


def save(run: Path, folder: Path, *, text: str | bytes = TEXT, quantise: str = "float32") -> Any:
    (folder / "text").write_bytes(text if isinstance(text, bytes) else text.encode())
    files = ["--text", str(folder / "text"), "--out", str(folder / "state")]
    return RUN.invoke(app, ["state", "save", "--run", str(run), *files, "--quantise", quantise])


def ask(run: Path, folder: Path, query: str = "7") -> Any:
    return RUN.invoke(app, ["state", "ask", "--run", str(run), "--state", str(folder / "state"), "--query", query])


def refused(result: Any, message: str) -> None:
    """One line of explanation, exit code 2, and no traceback."""
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


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


def test_the_bits_of_the_message_are_counted(untrained: Any, tmp_path: Path) -> None:
    """What is printed is what is in the file: payload and header, apart."""
    saved = save(untrained("mamba"), tmp_path, quantise="bfloat16").stdout
    message, header = (
        int(number.replace(",", "")) for number in re.search(r"in ([\d,]+) bits .* of ([\d,]+)\.", saved).groups()
    )
    assert message + header == 8 * (tmp_path / "state").stat().st_size
    state = load_run(untrained("mamba")).model.init_state(1)
    assert message == state_bits(state) // 2


@pytest.mark.slow
def test_bob_may_be_another_process_and_ask_again(untrained: Any, tmp_path: Path) -> None:
    run = untrained("hybrid")
    save(run, tmp_path)
    before = (tmp_path / "state").read_bytes()
    bob = [sys.executable, "-c", "from recherche.cli import main; main()", "state", "ask", "--run", str(run)]
    asked = ["--state", str(tmp_path / "state"), "--query", "7"]
    said = subprocess.run([*bob, *asked], capture_output=True, text=True, check=True).stdout
    assert said == ask(run, tmp_path).stdout
    assert ask(run, tmp_path, "3").exit_code == 0
    assert ask(run, tmp_path).stdout == said
    assert (tmp_path / "state").read_bytes() == before


def of_two_texts(run: Path) -> bytes:
    text = torch.tensor([load_run(run).task.vocab.encode(TEXT.split()).tolist()] * 2)
    return send(load_run(run).model, text, quantiser_of("float32")).data


def of_float64(run: Path) -> bytes:
    model = load_run(run).model.double()
    return send(model, torch.tensor([[1, 2]]), quantiser_of("float64")).data


def of_another_text(run: Path) -> bytes:
    """Well formed in all but what the header says."""
    data = of_two_texts(run)
    body = data[len(MAGIC) + 32 :].replace(b'"quantiser": "float32"', b'"quantiser": "float99"')
    return MAGIC + hashlib.sha256(body).digest() + body


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data, run: data[:-3], "truncated or was changed"),
        (lambda data, run: data[:300] + bytes([data[300] ^ 4]) + data[301:], "truncated or was changed"),
        (lambda data, run: data.replace(b"STATE 1", b"STATE 2", 1), "this is another version; save it again"),
        (lambda data, run: b"a text of one's own", "this is another kind of file"),
        (lambda data, run: b"", "this is another kind of file"),
        (lambda data, run: of_two_texts(run), "holds 2 of them; save each by itself"),
        (lambda data, run: of_float64(run), "whose weights are float64 and not float32; use the run that wrote"),
        (lambda data, run: of_another_text(run), "quantiser 'float99'"),
    ],
    ids=["truncated", "tampered", "version", "a text", "empty", "batch", "dtype", "unknown quantiser"],
)
def test_a_state_that_cannot_be_gone_on_from_is_refused(
    untrained: Any, tmp_path: Path, damage: Any, message: str
) -> None:
    run = untrained("mamba")
    save(run, tmp_path)
    (tmp_path / "state").write_bytes(damage((tmp_path / "state").read_bytes(), run))
    refused(ask(run, tmp_path), message)


def test_a_state_of_another_run_is_refused(untrained: Any, tmp_path: Path) -> None:
    save(untrained("mamba"), tmp_path)
    refused(ask(untrained("transformer"), tmp_path), "the state belongs to model")


@pytest.mark.parametrize(
    ("query", "message"),
    [("99", "does not hold '99'"), ("", "at least one token, got none"), ("7 x", "does not hold 'x'")],
    ids=["beyond the vocabulary", "empty", "unknown token"],
)
def test_a_bad_query_is_refused(untrained: Any, tmp_path: Path, query: str, message: str) -> None:
    save(untrained("mamba"), tmp_path)
    refused(ask(untrained("mamba"), tmp_path, query), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "at least one token"), ("<s> 99", "does not hold '99'"), (b"\xff\xfe\x00", "Cannot read the text")],
    ids=["empty", "beyond the vocabulary", "not a text"],
)
def test_a_bad_text_is_refused(untrained: Any, tmp_path: Path, text: str | bytes, message: str) -> None:
    refused(save(untrained("mamba"), tmp_path, text=text), message)
    assert not (tmp_path / "state").exists()


def test_a_quantiser_that_does_not_exist_is_answered_with_near_names(untrained: Any, tmp_path: Path) -> None:
    refused(save(untrained("mamba"), tmp_path, quantise="int6"), "did you mean int8")


def test_missing_files_are_refused(untrained: Any, tmp_path: Path) -> None:
    run = untrained("mamba")
    refused(ask(run, tmp_path), "Cannot read the state")
    refused(ask(tmp_path / "no-run", tmp_path), "no-run")
    files = ["--text", str(tmp_path / "nowhere"), "--out", str(tmp_path / "state")]
    refused(RUN.invoke(app, ["state", "save", "--run", str(run), *files]), "Cannot read the text")


@pytest.mark.parametrize("command", [[], ["save"], ["ask"]], ids=["state", "save", "ask"])
def test_help_shows_the_whole_round(command: list[str]) -> None:
    said = " ".join(RUN.invoke(app, ["state", *command, "--help"]).stdout.split())
    assert "recherche state ask --run runs/m --state list.state" in said


def test_either_a_cell_or_a_language_model_reads(untrained: Any, tmp_path: Path) -> None:
    files = ["--text", str(tmp_path / "text"), "--out", str(tmp_path / "state")]
    run = str(untrained("mamba"))
    for named in ([], ["--run", run, "--hf", run]):
        refused(RUN.invoke(app, ["state", "save", *named, *files]), "either --run, a trained cell, or --hf")
