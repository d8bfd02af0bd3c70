import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.cli.game import sizes_of
from recherche.errors import ConfigError
from recherche.games.certificates import Certificate

RUN = CliRunner()


def test_capacity_prints_a_line_for_each_run_and_size_and_draws_them(untrained: Any, tmp_path: Path) -> None:
    runs = [str(untrained(architecture)) for architecture in ("mamba", "transformer")]
    figure = tmp_path / "capacity.svg"
    arguments = ["--run", runs[0], "--run", runs[1], "--n", "4,8", "--num", "30", "--json", "--out", str(figure)]
    result = RUN.invoke(app, ["game", "capacity", *arguments])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert [(row["architecture"], row["n"]) for row in rows] == [
        ("mamba", 4),
        ("mamba", 8),
        ("transformer", 4),
        ("transformer", 8),
    ]
    assert all(len(row["errors"]) == row["n"] for row in rows)
    assert rows[0]["message_bits"] == rows[1]["message_bits"]
    assert rows[2]["message_bits"] < rows[3]["message_bits"]
    assert figure.read_text().startswith("<?xml")


def test_capacity_shows_a_table(untrained: Any) -> None:
    result = RUN.invoke(
        app, ["game", "capacity", "--run", str(untrained("mamba")), "--num", "20", "--quantise", "int8"]
    )
    assert result.exit_code == 0, result.output
    assert "accuracy" in result.stdout
    assert "longest n with accuracy at least 0.95: none of these" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--quantise", "int6"], "did you mean int8"),
        (["--n", "8,many"], "write 8,16,32"),
        (["--n", "99"], "99"),
        (["--num", "5", "--out", "figure.bmp"], ".png or .svg"),
    ],
    ids=["quantiser", "sizes", "beyond the vocabulary", "figure"],
)
def test_bad_input_is_refused(untrained: Any, arguments: list[str], message: str) -> None:
    result = RUN.invoke(app, ["game", "capacity", "--run", str(untrained("mamba")), *arguments])
    assert result.exit_code == 2
    assert message in result.stderr


def test_sizes_are_numbers_with_commas() -> None:
    assert sizes_of("8,16") == [8, 16]
    assert sizes_of(None) is None
    with pytest.raises(ConfigError):
        sizes_of("8;16")


def test_a_collision_is_certified_and_the_certificate_verified(untrained: Any, tmp_path: Path) -> None:
    run, path = untrained("mamba", n_symbols=2), tmp_path / "certificate.json"
    found = RUN.invoke(
        app, ["game", "collision", "--run", str(run), "--quantise", "r3", "--n", "8", "--out", str(path)]
    )
    assert found.exit_code == 0, found.output
    assert "two texts in one state" in found.stdout
    assert Certificate.from_json(path.read_text()).n == 8
    checked = RUN.invoke(app, ["verify", str(path)])
    assert checked.exit_code == 0, checked.output
    assert "Refuted" in checked.stdout
    path.write_text(path.read_text().replace('"n": 8', '"n": 7'))
    assert RUN.invoke(app, ["verify", str(path)]).exit_code == 2


def test_a_state_that_holds_everything_has_no_certificate(untrained: Any, tmp_path: Path) -> None:
    run, path = untrained("transformer", n_symbols=2), tmp_path / "certificate.json"
    arguments = ["--quantise", "float32", "--n", "4", "--out", str(path)]
    result = RUN.invoke(app, ["game", "collision", "--run", str(run), *arguments])
    assert result.exit_code == 1, result.output
    assert not path.exists()
