import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.games.contract import CHECKS

RUN = CliRunner()
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.slow
def test_our_own_run_passes(untrained: Any) -> None:
    result = RUN.invoke(app, ["contract", "--run", str(untrained("hybrid"))])
    assert result.exit_code == 0, result.output
    assert "FAILS" not in result.stdout


@pytest.mark.slow
def test_a_family_that_fails_is_told_with_a_script(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    result = RUN.invoke(app, ["contract", "--family", "mamba", "--scripts", str(tmp_path), "--json"])
    assert result.exit_code == 1, result.output
    records = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert [record["check"] for record in records] == list(CHECKS)
    failed = {record["check"] for record in records if record["passed"] is False}
    assert failed == {"chunks of 2", "chunks of 3", "chunks of 7", "chunks of 64", "wrong name"}
    assert "tokens.split(2, dim=1)" in (tmp_path / "mamba.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Nothing to hold"),
        (["--family", "mambo"], "did you mean mamba"),
        (["--hf", "/nowhere"], "cannot make /nowhere"),
    ],
    ids=["nothing", "unknown family", "no folder"],
)
def test_bad_input_is_refused(arguments: list[str], message: str) -> None:
    result = RUN.invoke(app, ["contract", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
