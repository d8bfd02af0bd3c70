"""The numbers of the demonstration's page are those of the stored lines."""

import json
from itertools import groupby
from pathlib import Path

from tests.house.source import ROOT

LINES = ROOT / "docs" / "results" / "language.jsonl"
PAGE = ROOT / "docs" / "language_demo.md"
COLUMNS = tuple((model, protocol) for model in ("mamba", "transformer") for protocol in ("search", "direct"))


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(rows: list[dict]) -> str:
    """A line for each task and n; in a cell the accuracies of all seeds, in their order."""
    lines = []
    for (task, n), point in groupby(
        sorted(rows, key=lambda row: (row["task"], row["n"])), lambda r: (r["task"], r["n"])
    ):
        at = sorted(point, key=lambda row: row["seed"])
        cells = [
            " ".join(f"{row['accuracy']:.2f}" for row in at if (row["folder"], row["protocol"]) == column)
            for column in COLUMNS
        ]
        lines.append(f"| {task} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_is_that_of_the_stored_lines():
    assert table(read(LINES)) in PAGE.read_text(encoding="utf-8")


def test_every_point_is_there_for_the_same_seeds():
    rows = read(LINES)
    seeds = {row["seed"] for row in rows}
    points = {(row["folder"], row["task"], row["protocol"], row["n"]) for row in rows}
    assert len(rows) == len(points) * len(seeds)


def test_another_number_makes_another_table():
    rows = read(LINES)
    changed = [{**rows[0], "accuracy": 1.0 - rows[0]["accuracy"]}, *rows[1:]]
    assert table(changed) not in PAGE.read_text(encoding="utf-8")
