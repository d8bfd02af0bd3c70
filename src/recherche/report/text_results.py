"""Reads the folder of `recherche lm eval`: what was asked for (language.json), and a line for each point.

DIR/language.json           versions, machine, the names of all points, the failed ones
DIR/results.jsonl           a line for each measured point, and for each one that was refused
DIR/points/NAME-HASH/       samples.jsonl: the answers of a point
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from pydantic import BaseModel, ConfigDict, Field

from recherche.errors import InputError
from recherche.report.results import Failure, RunRecord, distinct, read_models, read_record

RECORD = "language.json"
PROTOCOLS = ("direct", "search")


@final
class TextPoint(BaseModel):
    """One model by one protocol on texts of one task and size.

    Attributes:
        point: its name.
        folder: the model's name.
        model_type: its family, in the words of transformers.
        prompt_tokens: of a text with its question, on average.
        accuracy: share of right answers; None where the point was refused, as all that is measured.
        search_outcomes: share of each status among the searches.
        state_bits: live cache of one row after the prompt.
        required_bits: without which no reader of the text is always right; None where no bound is known.
        tokens_per_second: read and written.
        refused: why the point was not run; None where it was.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())
    point: str = Field(pattern=r"^[^/\\]*[^/\\.][^/\\]*$")
    folder: str
    model_type: str = ""
    num_parameters: int | None = None
    task: str
    protocol: str
    n: int
    prompt_tokens: float | None = None
    accuracy: float | None = Field(default=None, ge=0, le=1)
    accuracy_low: float | None = Field(default=None, ge=0, le=1)
    accuracy_high: float | None = Field(default=None, ge=0, le=1)
    num_samples: int = 0
    num_undecided: int = 0
    searches_per_answer: float | None = None
    search_outcomes: dict[str, float] = Field(default_factory=dict)
    state_bits: int | None = None
    required_bits: float | None = None
    seconds: float | None = None
    tokens_per_second: float | None = None
    seed: int = 0
    config_hash: str = Field(default="", pattern=r"^\w*$")
    device: str = ""
    dtype: str = ""
    refused: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """A point with its accuracy and the 95 % interval."""

    point: TextPoint
    accuracy: float
    low: float
    high: float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TextRun:
    """The folder, read."""

    folder: Path
    record: RunRecord
    points: tuple[TextPoint, ...]

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.folder.resolve().name

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order in which they were measured."""
        return tuple(dict.fromkeys(point.folder for point in self.points))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order in which they were measured."""
        return tuple(dict.fromkeys(point.task for point in self.points))

    @property
    def absent(self) -> tuple[Failure, ...]:
        """The points that were asked for and have no line: the failed ones with their error, the others without."""
        return self.record.absent({point.point for point in self.points})

    def line(self, model: str, task: str, protocol: str) -> list[Measured]:
        """The measured points of a curve, by growing n."""
        return line_of(self.points, model, task=task, protocol=protocol)

    def samples_path(self, point: TextPoint) -> Path:
        """Where the answers of a point are."""
        return self.folder / "points" / f"{point.point}-{point.config_hash}" / "samples.jsonl"


def line_of(points: Sequence[TextPoint], model: str, *, task: str, protocol: str) -> list[Measured]:
    """The measured points of a curve, by growing n."""
    found = [
        Measured(point, point.accuracy, point.accuracy_low, point.accuracy_high)
        for point in points
        if (point.folder, point.task, point.protocol) == (model, task, protocol)
        if point.accuracy is not None and point.accuracy_low is not None and point.accuracy_high is not None
    ]
    return sorted(found, key=lambda measured: measured.point.n)


def sizes_of(points: Sequence[TextPoint]) -> tuple[int, ...]:
    """The n of some points, from the smallest to the largest."""
    return distinct([point.n for point in points])


def is_text_run(folder: Path) -> bool:
    """Whether `recherche lm eval` has claimed the folder."""
    return (folder / RECORD).is_file()


def read_text_run(folder: Path) -> TextRun:
    """The points with their record.

    Raises:
        InputError: the folder is none of `lm eval`, or a file of it is damaged.
    """
    if not is_text_run(folder):
        raise InputError(f"{folder} holds no {RECORD}; name a folder that `recherche lm eval --out DIR` wrote.")
    remedy = "delete that line and run `recherche lm eval` again"
    points = read_models(folder / "results.jsonl", TextPoint, what="a result", remedy=remedy)
    last = {point.point: point for point in points}
    return TextRun(folder=folder, record=read_record(folder / RECORD), points=tuple(last.values()))
