"""A whole grid: claim a folder, run the cells that are not done, collect the numbers.

    DIR/reproduce.json   preset, seed, versions, when, which cells, which failed
    DIR/results.jsonl    one line a finished cell
    DIR/cells/NAME/      see `recherche.experiments.cell`

A cell that is done is skipped, a failed one is named and does not stop the others.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.experiments.cell import claim
from recherche.experiments.config import RunConfig
from recherche.experiments.files import read_json, write_json, write_json_lines
from recherche.experiments.lanes import Outcome, run_in_lanes
from recherche.experiments.presets import PRESETS
from recherche.experiments.versions import device_name, versions

WORK_PER_SECOND = 4.5e6
"""Units of `expected_work` that a lane on one core of a server of 2023 does in a second."""


class Grid(NamedTuple):
    """Cells to run and the folder they live in.

    Attributes:
        preset: name of the preset.
        seeds: seeds, one copy of the grid each.
        cells: configuration of every cell of the grid, by name.
    """

    preset: str
    seeds: tuple[int, ...]
    cells: dict[str, RunConfig]

    def matching(self, only: str | None) -> dict[str, RunConfig]:
        """The cells whose name holds `only`, or matches it if it has wildcards.

        Raises:
            ConfigError: no cell does.
        """
        return {name: self.cells[name] for name in matching_names(self.cells, only, of=self.preset)}


def matching_names(names: Iterable[str], only: str | None, *, of: str) -> list[str]:
    """The names that hold `only`, or match it if it has wildcards; all of them if it is None.

    Args:
        of: what the names belong to, for the message.

    Raises:
        ConfigError: none does.
    """
    known = list(names)
    if only is None:
        return known
    pattern = only if any(sign in only for sign in "*?[") else f"*{only}*"
    chosen = [name for name in known if fnmatchcase(name, pattern)]
    if not chosen:
        raise ConfigError(f"No cell of {of!r} matches {only!r}; the cells are: {', '.join(known)}.")
    return chosen


def make_grid(preset: str, seeds: tuple[int, ...]) -> Grid:
    """The cells of a preset for one or more seeds; names end in -seed<s> when there are several.

    Raises:
        ConfigError: an unknown preset.
    """
    cells_of = lookup(PRESETS, preset, what="preset").cells
    suffixes = {seed: f"-seed{seed}" if len(seeds) > 1 else "" for seed in seeds}
    cells = {f"{name}{suffixes[seed]}": config for seed in seeds for name, config in cells_of(seed)}
    return Grid(preset, seeds, cells)


def cells_left(grid: Grid, out: Path, only: str | None) -> dict[str, RunConfig]:
    """The cells that match and are not done, by name.

    Raises:
        ConfigError: `only` matches nothing.
    """
    return {name: config for name, config in grid.matching(only).items() if not _is_done(out, name)}


def cell_folder(out: Path, name: str) -> Path:
    """Where a cell of the grid in `out` lives."""
    return out / "cells" / name


def expected_work(config: RunConfig) -> float:
    """Work of a cell in arbitrary units: layers x tokens, the tokens counted at the final size.

    Good enough to start long cells first and to weigh a progress bar.
    """
    plan = config.plans[0]
    length = config.task.build().max_length
    return float(plan.num_steps * plan.batch_size * length * len(config.model.layers) * config.model.d_model)


def expected_seconds(cells: Iterable[RunConfig], *, jobs: int) -> float:
    """Wall time of cells on CPU lanes, before anything is measured; good to a factor of two between machines."""
    work = [expected_work(config) for config in cells]
    return max(sum(work) / jobs, max(work, default=0.0)) / WORK_PER_SECOND


def reproduce(
    grid: Grid,
    out: Path,
    *,
    only: str | None,
    jobs: int,
    device: str,
    on_message: Callable[[str, Any], None],
) -> Outcome:
    """Run what is left of a grid and write its numbers.

    Raises:
        ConfigError: `out` belongs to another grid, or `only` matches nothing.
    """
    chosen = grid.matching(only)
    _claim_grid(grid, out)
    for name, config in grid.cells.items():
        if name in chosen or (cell_folder(out, name) / "config.json").exists():
            claim(cell_folder(out, name), config)
    left = cells_left(grid, out, only)
    ordered = dict(sorted(left.items(), key=lambda item: -expected_work(item[1])))
    started = datetime.now(UTC)

    def collect(name: str, message: Any) -> None:
        on_message(name, message)
        if isinstance(message, dict):
            write_results(grid, out)

    outcome = run_in_lanes(ordered, lambda name: cell_folder(out, name), jobs=jobs, device=device, on_message=collect)
    write_results(grid, out)
    record_end(out / "reproduce.json", outcome, started=started, jobs=jobs, device=device)
    return outcome


def record_end(path: Path, outcome: Outcome, *, started: datetime, jobs: int, device: str) -> None:
    """Add to the record of a folder how its cells ended, and the time they took to that of earlier runs."""
    record, ended = read_json(path), datetime.now(UTC)
    record |= {
        "versions": versions(),
        "device": device_name(device),
        "jobs": jobs,
        "finished": ended.isoformat(timespec="seconds"),
        "wall_seconds": record.get("wall_seconds", 0.0) + (ended - started).total_seconds(),
        "failed": [failure._asdict() for failure in outcome.failures],
    }
    write_json(path, record)


def write_results(grid: Grid, out: Path) -> list[dict[str, Any]]:
    """Write a line for each finished cell, in the order of the grid, and return them."""
    rows = [
        {"cell": name} | read_json(cell_folder(out, name) / "result.json") for name in grid.cells if _is_done(out, name)
    ]
    write_json_lines(out / "results.jsonl", rows)
    return rows


def _is_done(out: Path, name: str) -> bool:
    return (cell_folder(out, name) / "result.json").exists()


def _claim_grid(grid: Grid, out: Path) -> None:
    path = out / "reproduce.json"
    identity = {"preset": grid.preset, "seeds": list(grid.seeds)}
    if not path.exists():
        if out.exists() and any(out.iterdir()):
            raise ConfigError(f"{out} is not empty and was not made by reproduce; choose another --out, or empty it.")
        out.mkdir(parents=True, exist_ok=True)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        write_json(path, identity | {"cells": list(grid.cells), "started": started})
        return
    owner = {key: read_json(path).get(key) for key in identity}
    if owner != identity:
        raise ConfigError(
            f"{out} belongs to preset {owner['preset']!r} with seeds {owner['seeds']}, but preset {grid.preset!r} with "
            f"seeds {list(grid.seeds)} was asked for; choose another --out."
        )
