import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.cli.bounds import _bits_at, first_failure
from recherche.experiments.config import TaskConfig
from recherche.tasks import Index

RUN = CliRunner()


@pytest.mark.parametrize("task", ["index", "recall", "mqar", "cgram", "counting", "copying", "istree"])
def test_every_bound_comes_with_its_argument(task: str) -> None:
    result = RUN.invoke(app, ["bounds", task, "--n", "16", "--json"])
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["bits"] > 0
    assert len(record["argument"].splitlines()) >= 2


def test_the_bound_is_told_in_words() -> None:
    result = RUN.invoke(app, ["bounds", "index", "--n", "1000"])
    assert "index, n = 1000: any model that is always right holds at least 9,965.8 bits" in result.stdout
    assert "states" in result.stdout


def test_a_recurrent_run_is_told_where_it_must_fail(untrained: Any) -> None:
    run = untrained("mamba")
    result = RUN.invoke(app, ["bounds", "index", "--n", "8", "--run", str(run), "--num", "20", "--json"])
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert not record["state_grows"]
    fails = record["fails_from_n"]
    assert Index(n=fails, n_symbols=8).lower_bound_bits > record["state_bits"]
    assert Index(n=fails - 1, n_symbols=8).lower_bound_bits <= record["state_bits"]
    assert [found["n"] for found in record["measured"]] == [8]
    assert record["measured"][0]["accuracy"] < 0.9
    assert record["measured"][0]["bound_accuracy"] == 1


def test_a_failure_within_the_vocabulary_is_measured_beside_the_bound(untrained: Any) -> None:
    run = untrained("mamba", n_symbols=8, n_numbers=20)
    result = RUN.invoke(app, ["bounds", "index", "--n", "16", "--run", str(run), "--num", "1", "--quantise", "r3"])
    assert result.exit_code == 0, result.output
    assert "Measured at n = 8:" in result.stdout
    assert "Measured at n = 16:" in result.stdout
    assert "is better than 1.000" in result.stdout
    assert "holds at least 48.0 bits" in result.stdout, "8 symbols, as in the run, and not 16"


def test_a_growing_state_is_told_apart(untrained: Any) -> None:
    result = RUN.invoke(app, ["bounds", "index", "--n", "8", "--run", str(untrained("transformer")), "--num", "20"])
    assert result.exit_code == 0, result.output
    assert "grows with the text" in result.stdout


def test_the_bound_of_another_task_is_refused(untrained: Any) -> None:
    result = RUN.invoke(app, ["bounds", "recall", "--run", str(untrained("mamba"))])
    assert result.exit_code == 2
    assert "was trained on index" in result.stderr


def test_verifying_what_is_no_certificate_is_refused(tmp_path: Path) -> None:
    missing = RUN.invoke(app, ["verify", str(tmp_path / "nowhere.json")])
    assert missing.exit_code == 2
    assert "Cannot read" in missing.stderr
    (tmp_path / "other.json").write_text("{}")
    other = RUN.invoke(app, ["verify", str(tmp_path / "other.json")])
    assert other.exit_code == 2
    assert "no certificate" in other.stderr


@pytest.mark.parametrize("name", ["index", "recall", "mqar", "cgram", "copying", "istree"])
def test_the_first_failure_is_where_the_bound_passes_the_state(name: str) -> None:
    config = TaskConfig(name=name, n=8, protocol="direct", options={"n_values": 4} if name == "mqar" else {})
    fails = first_failure(config, 30)
    assert fails is not None
    before = fails - (2 if name == "mqar" else 1)
    assert _bits_at(config, before) <= 30 < _bits_at(config, fails)
