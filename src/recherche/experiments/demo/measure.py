"""What the models of the demonstration can do, measured side by side by the runner of `recherche lm eval`.

A model is measured in a folder of its own, for two processes cannot write into one; then one folder holds all points.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from recherche.errors import InputError
from recherche.experiments.cell import UNWATCHED, Progress, Stopped, Watch
from recherche.experiments.demo.presets import DemoPreset
from recherche.experiments.files import read_json, read_json_lines, write_json, write_json_lines
from recherche.experiments.language_models import RECORD, Machine, measure_points
from recherche.experiments.language_points import PROTOCOLS, LanguagePoint, Sampling, expected_work, make_points

POINTS, RESULTS = "points", "results.jsonl"


class Examination(NamedTuple):
    """What one model is asked.

    Attributes:
        folder: the model.
    """

    folder: Path
    preset: DemoPreset
    seed: int

    def points(self) -> dict[str, LanguagePoint]:
        """All points by name, task by task, the shortest texts first."""
        points: dict[str, LanguagePoint] = {}
        for measured in self.preset.measured:
            points |= make_points(
                [self.folder],
                tasks=[measured.task],
                sizes=measured.sizes,
                protocols=PROTOCOLS,
                sampling=Sampling(num=self.preset.num, seed=self.seed),
            )
        return points

    @property
    def work(self) -> float:
        """Work in arbitrary units."""
        return sum(map(expected_work, self.points().values()))


def examine(examination: Examination, out: Path, *, watch: Watch = UNWATCHED, device: str = "cpu") -> dict[str, Any]:
    """Measure what is left of a model's points.

    Raises:
        InputError: a point could not be measured.
        Stopped: `watch.stop` said so; answers that are complete are kept.
    """
    points = examination.points()
    work = {name: expected_work(point) for name, point in points.items()}
    done = {row["point"]: work[row["point"]] for row in read_json_lines(out / RESULTS) if row["point"] in work}

    def tell(name: str, message: Any) -> None:
        share = message.done / message.total if isinstance(message, Progress) else 1.0
        done[name] = work[name] * share
        percent = round(1000 * sum(done.values()) / sum(work.values()))
        watch.report(Progress("measure", percent, 1000, name))
        if watch.stop():
            raise KeyboardInterrupt

    machine = Machine(device=device, batch_size=examination.preset.batch_size)
    outcome = measure_points(points, out, machine=machine, on_message=tell)
    if outcome.stopped:
        raise Stopped
    if outcome.failures:
        raise InputError("; ".join(f"{failure.cell}: {failure.error}" for failure in outcome.failures))
    return {"summary": f"{len(points)} points"}


def gather(folders: Iterable[Path], out: Path) -> None:
    """One folder of `lm eval` with the points of several."""
    records, rows = [], []
    for folder in folders:
        shutil.copytree(folder / POINTS, out / POINTS, dirs_exist_ok=True)
        records.append(read_json(folder / RECORD))
        rows += read_json_lines(folder / RESULTS)
    write_json_lines(out / RESULTS, rows)
    write_json(
        out / RECORD,
        records[0]
        | {
            "cells": [cell for record in records for cell in record["cells"]],
            "wall_seconds": max(record["wall_seconds"] for record in records),
        },
    )
