from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from recherche.cli.lm_export import export
from recherche.errors import ConfigError


def run(*arguments: object):
    app = typer.Typer()
    app.command()(export)
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_a_cell_is_saved(untrained, tmp_path: Path):
    result = run("--run", untrained("mamba"), "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "parameters" in result.output
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


@pytest.mark.parametrize(("architecture", "message"), [("hybrid", "layers are all alike"), (None, "is not a run")])
def test_what_cannot_be_saved_is_refused(untrained, tmp_path: Path, architecture, message):
    folder = untrained(architecture) if architecture else tmp_path
    result = run("--run", folder, "--out", tmp_path / "out")
    assert isinstance(result.exception, ConfigError)
    assert message in str(result.exception)
