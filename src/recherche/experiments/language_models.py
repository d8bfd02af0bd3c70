"""Language models of transformers measured on texts of growing length, direct beside searching.

    DIR/language.json    which points were asked for, versions, when, which failed
    DIR/results.jsonl    one line for each measured or refused point
    DIR/points/NAME/     the answers of a point (`language_point`); NAME ends in the hash of all that changes numbers

A point whose hash stands in results.jsonl is done. The same command goes on where it stopped, within a point too; other
commands may add points to the same folder, and a changed point takes the place of its predecessor.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from recherche.errors import ConfigError, RechercheError
from recherche.experiments.files import read_json, read_json_lines, write_json, write_json_lines
from recherche.experiments.lanes import Failure, Outcome
from recherche.experiments.language_point import measure_point
from recherche.experiments.language_points import LanguagePoint
from recherche.experiments.language_subject import LanguageSubject, load_subject
from recherche.experiments.reproduce import record_end

RECORD = "language.json"

OnMessage = Callable[[str, Any], None]
"""Told (point, Progress) while points run, and (point, its line or a Failure) when one ends."""


class Machine(NamedTuple):
    """Where and how models run: nothing that changes numbers.

    Attributes:
        device: of torch.
        batch_size: texts written side by side.
        load: makes a folder, a device and a number type what is measured.
    """

    device: str = "cpu"
    batch_size: int = 8
    load: Callable[..., LanguageSubject] = load_subject


def points_left(points: Mapping[str, LanguagePoint], out: Path) -> dict[str, LanguagePoint]:
    """The points that have no line in results.jsonl."""
    hashes = {row["point"]: row["config_hash"] for row in read_json_lines(out / "results.jsonl")}
    return {name: point for name, point in points.items() if hashes.get(name) != point.hash}


def measure_points(
    points: Mapping[str, LanguagePoint], out: Path, *, machine: Machine, on_message: OnMessage
) -> Outcome:
    """Measure the points that are left, model by model; a failed one is named and does not stop the others.

    Ctrl-C ends it between two writes: answers that are complete are kept.

    Raises:
        ConfigError: `out` holds something else, or there is nothing to write side by side.
    """
    if machine.batch_size < 1:
        raise ConfigError(f"Texts are written side by side, one at least, got {machine.batch_size}; raise it.")
    left = points_left(points, out)
    _claim(points, out)
    outcome, started = Outcome({}, [], []), datetime.now(UTC)
    try:
        for folder, group in groupby(left.values(), key=lambda point: point.folder):
            _measure_folder(folder, list(group), out, machine, outcome, on_message)
    except KeyboardInterrupt:
        failed = {failure.cell for failure in outcome.failures}
        outcome.stopped.extend(name for name in left if name not in outcome.results and name not in failed)
    record_end(out / RECORD, outcome, started=started, jobs=1, device=machine.device)
    return outcome


def _measure_folder(
    folder: Path,
    points: list[LanguagePoint],
    out: Path,
    machine: Machine,
    outcome: Outcome,
    on_message: OnMessage,
) -> None:
    try:
        subject = machine.load(folder, device=machine.device, dtype=points[0].sampling.dtype)
    except RechercheError as error:
        for point in points:
            _fail(point, error, outcome, on_message)
        return
    for point in points:
        place = out / "points" / f"{point.name}-{point.hash}"
        try:
            line = measure_point(
                point,
                subject,
                place,
                batch_size=machine.batch_size,
                tell=lambda progress, name=point.name: on_message(name, progress),
            )
        except Exception as error:  # one point must not cost the others: memory, or a family's own error
            _fail(point, error, outcome, on_message)
            continue
        _store(out, line)
        outcome.results[point.name] = line
        on_message(point.name, line)


def _fail(point: LanguagePoint, error: Exception, outcome: Outcome, on_message: OnMessage) -> None:
    kind = "" if isinstance(error, RechercheError) else f"{type(error).__name__}: "
    failure = Failure(point.name, f"{kind}{error}")
    outcome.failures.append(failure)
    on_message(point.name, failure)


def _store(out: Path, line: dict[str, Any]) -> None:
    """Put a line into results.jsonl, in the place of one for the same point if there is one."""
    path = out / "results.jsonl"
    rows = {row["point"]: row for row in read_json_lines(path)}
    write_json_lines(path, (rows | {line["point"]: line}).values())


def _claim(points: Mapping[str, LanguagePoint], out: Path) -> None:
    """Write the points into the record of the folder, after those of earlier commands."""
    path = out / RECORD
    if path.exists():
        record = read_json(path)
    elif out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is not empty and was not made by `lm eval`; choose another --out, or empty it.")
    else:
        record = {"preset": "lm eval", "started": datetime.now(UTC).isoformat(timespec="seconds")}
    first = next(iter(points.values()))
    record |= {
        "seeds": [first.sampling.seed],
        "cells": list(dict.fromkeys([*record.get("cells", ()), *points])),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_json(path, record)
