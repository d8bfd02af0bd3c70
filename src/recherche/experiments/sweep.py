"""A sweep at work: run the points of a grid that are not done, collect their numbers.

    DIR/sweep.json       name, seed, versions, when, which points, which failed
    DIR/results.jsonl    one line for each model, size, task and n
    DIR/cells/NAME/      see `experiments.cell` and `experiments.recall_curve`; NAME ends in the hash of the training

A changed grid may run in the folder of its predecessor: points that stayed as they were are done already.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from recherche.errors import ConfigError
from recherche.experiments.files import read_json, write_json, write_json_lines
from recherche.experiments.lanes import Outcome, run_in_lanes
from recherche.experiments.recall_curve import is_measured, run_sweep_cell
from recherche.experiments.reproduce import cell_folder, expected_work, matching_names, record_end
from recherche.experiments.sweep_grid import SweepCell, find_sweep

RECORD = "sweep.json"


class Sweep(NamedTuple):
    """A grid with its seed.

    Attributes:
        name: what the folder is called.
        summary: the grid in one line.
        cells: every point by name.
    """

    name: str
    summary: str
    seed: int
    cells: dict[str, SweepCell]

    def matching(self, only: str | None) -> dict[str, SweepCell]:
        """The points whose name holds `only`, or matches it if it has wildcards.

        Raises:
            ConfigError: no point does.
        """
        return {name: self.cells[name] for name in matching_names(self.cells, only, of=self.name)}


def make_sweep(name_or_path: str, preset: str, *, seed: int = 0) -> Sweep:
    """A shipped sweep by name and preset, or the one in a YAML file.

    Raises:
        ConfigError: there is no such sweep, or its file is wrong.
    """
    name, grid = find_sweep(name_or_path, preset)
    return Sweep(name, grid.summary, seed, grid.cells(seed))


def points_left(sweep: Sweep, out: Path, only: str | None) -> dict[str, SweepCell]:
    """The points that match and are not measured, by name.

    Raises:
        ConfigError: `only` matches nothing.
    """
    chosen = sweep.matching(only)
    return {name: cell for name, cell in chosen.items() if not is_measured(cell, cell_folder(out, name))}


def run_sweep(
    sweep: Sweep,
    out: Path,
    *,
    only: str | None,
    jobs: int,
    device: str,
    on_message: Callable[[str, Any], None],
) -> Outcome:
    """Run what is left of a sweep and write its numbers; a failed point is named and does not stop the others.

    Raises:
        ConfigError: `out` holds something else, or `only` matches nothing.
    """
    left = points_left(sweep, out, only)
    _claim(sweep, out)
    ordered = dict(sorted(left.items(), key=lambda item: -expected_work(item[1].config)))
    started = datetime.now(UTC)

    def collect(name: str, message: Any) -> None:
        on_message(name, message)
        if isinstance(message, dict):
            write_curves(sweep, out)

    outcome = run_in_lanes(
        ordered,
        lambda name: cell_folder(out, name),
        jobs=jobs,
        device=device,
        on_message=collect,
        work=run_sweep_cell,
    )
    write_curves(sweep, out)
    record_end(out / RECORD, outcome, started=started, jobs=jobs, device=device)
    return outcome


def write_curves(sweep: Sweep, out: Path) -> list[dict[str, Any]]:
    """Write the lines of all measured points, in the order of the grid, and return them."""
    rows = []
    for name, cell in sweep.cells.items():
        if is_measured(cell, cell_folder(out, name)):
            rows += [{"cell": name} | row for row in read_json(cell_folder(out, name) / "curve.json")]
    write_json_lines(out / "results.jsonl", rows)
    return rows


def _claim(sweep: Sweep, out: Path) -> None:
    """Write the points of this sweep into the record of the folder."""
    identity = {"preset": sweep.name, "seeds": [sweep.seed], "summary": sweep.summary, "cells": list(sweep.cells)}
    path = out / RECORD
    if path.exists():
        record = read_json(path)
        if record.get("preset") != sweep.name:
            raise ConfigError(
                f"{out} belongs to the sweep {record.get('preset')!r}, but {sweep.name!r} was asked for; "
                "choose another --out."
            )
    elif out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is not empty and was not made by a sweep; choose another --out, or empty it.")
    else:
        record = {"started": datetime.now(UTC).isoformat(timespec="seconds")}
    record |= identity
    out.mkdir(parents=True, exist_ok=True)
    write_json(path, record)
