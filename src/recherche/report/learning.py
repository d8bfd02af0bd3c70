"""Learning curves of a cell: loss, curriculum level and validation accuracy over the samples it was trained on.

A long curve is thinned to at most `MAX_POINTS` points, each the mean of a run of neighbouring rows: what a reader sees
at the width of a page.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from recherche.report.results import read_json_lines

MAX_POINTS = 240


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """Values over samples."""

    samples: tuple[float, ...]
    values: tuple[float, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurves:
    """What metrics.jsonl of a cell shows."""

    loss: Curve
    level: Curve
    validation: Curve


def read_learning_curves(cell_folder: Path) -> LearningCurves:
    """The curves of a cell; empty ones where it has no metrics.

    Raises:
        InputError: metrics.jsonl is damaged.
    """
    rows = _last_attempt([row for row in read_json_lines(cell_folder / "metrics.jsonl") if isinstance(row, dict)])
    return LearningCurves(
        loss=_thinned(_points(rows, "loss")), level=_changes(_points(rows, "n")), validation=_validations(rows)
    )


def _last_attempt(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A cell that stays unsolved is trained again from scratch; its result is that of the last attempt."""
    last = max((row.get("attempt") or 0 for row in rows), default=0)
    return [row for row in rows if (row.get("attempt") or 0) == last]


def _points(rows: list[dict[str, Any]], column: str) -> list[tuple[float, float]]:
    return [(float(row["samples"]), float(row[column])) for row in rows if _has(row, "samples", column)]


def _validations(rows: list[dict[str, Any]]) -> Curve:
    """Validation rows count steps; their samples are those of the training rows around them."""
    training = [(float(row["step"]), float(row["samples"])) for row in rows if _has(row, "step", "samples")]
    rows = [row for row in rows if _has(row, "step", "validation_accuracy")]
    if not training or not rows:
        return Curve((), ())
    steps, samples = zip((0.0, 0.0), *training, strict=True)
    places = np.interp([row["step"] for row in rows], steps, samples)
    return Curve(tuple(places.tolist()), tuple(float(row["validation_accuracy"]) for row in rows))


def _has(row: dict[str, Any], *columns: str) -> bool:
    return all(isinstance(row.get(column), int | float) for column in columns)


def _thinned(points: list[tuple[float, float]]) -> Curve:
    if not points:
        return Curve((), ())
    runs = np.array_split(np.array(points), min(MAX_POINTS, len(points)))
    means = np.array([run.mean(axis=0) for run in runs])
    return Curve(tuple(means[:, 0].tolist()), tuple(means[:, 1].tolist()))


def _changes(points: list[tuple[float, float]]) -> Curve:
    """A staircase is told by its first point, those where it changes, and its last."""
    kept = [point for i, point in enumerate(points) if i in (0, len(points) - 1) or points[i - 1][1] != point[1]]
    return Curve(tuple(x for x, _ in kept), tuple(y for _, y in kept))
