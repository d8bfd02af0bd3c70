import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.cli.game import sizes_of, verdicts
from recherche.errors import ConfigError
from recherche.experiments.sweep_grid import shipped_sweeps
from recherche.games.certificates import Certificate
from tests.house.source import ROOT

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


def test_a_folder_gets_the_figure_and_its_numbers(untrained: Any, tmp_path: Path) -> None:
    arguments = ["--run", str(untrained("mamba")), "--n", "4", "--num", "20", "--quantise", "float32,r3"]
    result = RUN.invoke(app, ["game", "capacity", *arguments, "--out", str(tmp_path / "played")])
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "played").iterdir()} == {"capacity.png", "capacity.svg", "capacity.jsonl"}
    lines = [json.loads(line) for line in (tmp_path / "played" / "capacity.jsonl").read_text().splitlines()]
    assert [line["quantiser"] for line in lines] == ["float32", "r3"]


def test_a_message_that_is_too_short_for_the_task_must_fail() -> None:
    facts = {"label": "m", "quantiser": "r3", "message_bits": 20, "accuracy": 0.97}
    rows = [facts | {"n": n, "bits_needed": 2.0 * n} for n in (8, 16, 32)]
    rows += [facts | {"quantiser": "int8", "message_bits": 90, "n": 8, "bits_needed": 16.0, "accuracy": 0.9}]
    assert list(verdicts(rows)) == [
        "m, r3: longest n with accuracy at least 0.95: 32; at n = 16 it needs more bits than it sends and must fail",
        "m, int8: longest n with accuracy at least 0.95: none of these",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--quantise", "int6"], "did you mean int8"),
        (["--n", "8,many"], "write 8,16,32"),
        (["--n", "99"], "99"),
        (["--num", "5", "--out", "figure.bmp"], ".png or .svg"),
        (["--program", "ar-hybrid"], "index and recall"),
        (["--run", "nowhere"], "not a run"),
    ],
    ids=["quantiser", "sizes", "beyond the vocabulary", "figure", "another task", "no run"],
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


SMALLER = {
    "num_steps: 3000": "num_steps: 2",
    "num_samples: 500": "num_samples: 8",
    "num_validation: 500": "num_validation: 8",
}


@pytest.mark.slow
def test_the_commands_of_the_page_run_at_a_tiny_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/games.md as a newcomer takes it, with two steps of training and five texts."""
    monkeypatch.chdir(tmp_path)
    grid = shipped_sweeps()["game-quick"]
    for words, fewer in SMALLER.items():
        assert words in grid
        grid = grid.replace(words, fewer)
    Path("tiny.yaml").write_text(grid)
    page = (ROOT / "docs" / "games.md").read_text()
    commands = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).splitlines()
    assert len(commands) >= 8
    for command in commands:
        name, *words = shlex.split(command)
        words = [str(next(Path().glob(word))) if "*" in word else word for word in words]
        words = ["tiny.yaml" if word == "game" and words[0] == "sweep" else word for word in words]
        few = ["--num", "5"] if "capacity" in words or words[0] == "bounds" else []
        done = RUN.invoke(app, [*words, *few])
        assert (name, done.exit_code) == ("recherche", 0), f"{command}: {done.output}"
    lines = (tmp_path / "runs" / "game" / "capacity" / "capacity.jsonl").read_text().splitlines()
    assert {json.loads(line)["label"] for line in lines} == {"transformer", "hybrid", "mamba", "small-mamba"}
    assert Certificate.from_json(Path("certificate.json").read_text()).n == 16
