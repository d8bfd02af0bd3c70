"""Reads the folder of a sweep: what was asked for (sweep.json), and a line for each model, size, task and n.

DIR/sweep.json       name, seed, versions, machine, the names of all points, the failed ones
DIR/results.jsonl    a line for each n of each measured point
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, final

from pydantic import BaseModel, ConfigDict, Field

from recherche.errors import InputError
from recherche.report.results import Failure, RunRecord, read_models, read_record

RECORD = "sweep.json"


@final
class SweepPoint(BaseModel):
    """One trained model measured at one n.

    Attributes:
        cell: name of the trained point and of its folder.
        mixer: the model's name in the grid.
        size: the values on its axes, in words; empty if it has one size.
        layers: its mixers, from the first layer to the last.
        state_bits: live state of one row after the prompt.
        state_grows: whether a layer keeps more for longer texts.
        accuracy: mean over the questions that are counted.
        num_samples: texts; the interval counts these.
        num_answers: questions in them.
        measured_by: "every question" or "generation".
        chance: what a guess achieves that knows nothing of the text.
        needed_bits: the bits without which no reader is always right.
        bound_accuracy: the best accuracy that `state_bits` allow; None where it is not known.
        solved: whether training ended because validation was solved, and not because its steps were used up.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    cell: str
    mixer: str
    size: str = ""
    layers: tuple[str, ...] = ()
    task: str
    n: int
    trained_n: int
    num_parameters: int
    state_bits: int
    state_grows: bool = False
    accuracy: float = Field(ge=0, le=1)
    accuracy_low: float = Field(ge=0, le=1)
    accuracy_high: float = Field(ge=0, le=1)
    num_samples: int
    num_answers: int
    measured_by: str
    chance: float
    needed_bits: float
    bound_accuracy: float | None = None
    solved: bool = False
    train_steps: int
    max_steps: int
    train_samples: int
    train_seconds: float
    seed: int = 0
    config_hash: str = ""
    device: str = ""

    @property
    def label(self) -> str:
        """The model and its size, in words."""
        return f"{self.mixer}, {self.size}" if self.size else self.mixer


class ModelSize(NamedTuple):
    """What the points of one line have in common."""

    mixer: str
    size: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRun:
    """The folder of a sweep, read."""

    folder: Path
    record: RunRecord
    points: tuple[SweepPoint, ...]

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.folder.resolve().name

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of the grid."""
        return tuple(dict.fromkeys(point.task for point in self.points))

    @property
    def absent(self) -> tuple[Failure, ...]:
        """The points that were asked for and have no numbers: the failed ones with their error, the others without."""
        return self.record.absent({point.cell for point in self.points})

    def at_largest_n(self, task: str) -> list[SweepPoint]:
        """The points of a task at the largest n that was measured."""
        largest = max(point.n for point in self.points if point.task == task)
        return [point for point in self.points if point.task == task and point.n == largest]


def lines_of(points: Iterable[SweepPoint]) -> dict[ModelSize, list[SweepPoint]]:
    """The points of one task by model and size, each line by growing n."""
    lines: dict[ModelSize, list[SweepPoint]] = {}
    for point in sorted(points, key=lambda point: point.n):
        lines.setdefault(ModelSize(point.mixer, point.size), []).append(point)
    return lines


def is_sweep(folder: Path) -> bool:
    """Whether a sweep has claimed the folder."""
    return (folder / RECORD).is_file()


def read_sweep(folder: Path) -> SweepRun:
    """A sweep with its record.

    Raises:
        InputError: the folder is not one of a sweep, or a file of it is damaged.
    """
    if not is_sweep(folder):
        raise InputError(f"{folder} holds no {RECORD}; name a folder that `recherche sweep --out DIR` wrote.")
    points = read_models(folder / "results.jsonl", SweepPoint, what="a result", remedy="run the sweep again")
    return SweepRun(folder=folder, record=read_record(folder / RECORD), points=tuple(points))
