"""Reads the folder of `recherche hotpot`: what was asked (hotpot.json), and a line for each point.

DIR/hotpot.json             versions, machine, the names of all points, the failed ones, which questions were kept
DIR/results.jsonl           a line for each measured point
DIR/points/NAME-HASH/       samples.jsonl: the answers of a point
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recherche.errors import InputError
from recherche.report.results import Failure, RunRecord, distinct, explain, read_models, read_record
from recherche.report.text_samples import TextSample

RECORD = "hotpot.json"
FEWEST = 2
"""Paragraphs that hold the facts."""


@final
class HotpotPoint(BaseModel):
    """A model by one protocol, with n paragraphs in one order.

    Attributes:
        point: its name.
        folder: the model's name.
        model_type: its family, in the words of transformers.
        accuracy: share of exact matches.
        answers: the folder of its answers, below points/.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())
    point: str
    folder: str
    model_type: str = ""
    num_parameters: int | None = None
    protocol: str
    order: str
    n: int
    prompt_tokens: float
    accuracy: float = Field(ge=0, le=1)
    accuracy_low: float = Field(ge=0, le=1)
    accuracy_high: float = Field(ge=0, le=1)
    f1: float = Field(ge=0, le=1)
    f1_low: float = Field(ge=0, le=1)
    f1_high: float = Field(ge=0, le=1)
    num_samples: int = Field(ge=1)
    num_undecided: int = 0
    searches_per_answer: float = 0.0
    search_outcomes: dict[str, float] = Field(default_factory=dict)
    seconds: float | None = None
    seed: int = 0
    answers: str = Field(pattern=r"^[^/\\]*[^/\\.][^/\\]*$")
    device: str = ""
    dtype: str = ""


@final
class HotpotRecord(BaseModel):
    """How questions were chosen and asked; of an interrupted choice, `num_asked` and `kept` are not known yet."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    data: str = ""
    shots_file: str = ""
    num_shots: int = 0
    max_new_tokens: int = 0
    num_wanted: int = 0
    num_questions: int = 0
    num_candidates: int = 0
    num_asked: int = 0
    kept: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HotpotRun:
    """The folder, read."""

    folder: Path
    record: RunRecord
    choice: HotpotRecord
    points: tuple[HotpotPoint, ...]

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.folder.resolve().name

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order in which they were measured."""
        return tuple(dict.fromkeys(point.folder for point in self.points))

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders, in that in which they were measured."""
        return tuple(dict.fromkeys(point.order for point in self.points))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of paragraphs, ascending."""
        return distinct([point.n for point in self.points])

    @property
    def absent(self) -> tuple[Failure, ...]:
        """The points that were asked for and have no line: the failed ones with their error, the others without."""
        return self.record.absent({point.point for point in self.points})

    def line(self, model: str, protocol: str, order: str) -> list[HotpotPoint]:
        """The points of a curve, by growing n."""
        wanted = (model, protocol, order)
        found = [point for point in self.points if (point.folder, point.protocol, point.order) == wanted]
        return sorted(found, key=lambda point: point.n)

    def base(self, point: HotpotPoint) -> float | None:
        """The accuracy with two paragraphs that a point is held against; None if there is none, or it is 0."""
        line = self.line(point.folder, point.protocol, point.order)
        return next((other.accuracy for other in line if other.n == FEWEST and other.accuracy > 0), None)

    def samples(self, point: HotpotPoint) -> list[TextSample]:
        """The answers of a point; none if there is no file of them.

        Raises:
            InputError: a line is no answer.
        """
        path = self.folder / "points" / point.answers / "samples.jsonl"
        return read_models(
            path, TextSample, what="an answer", remedy="delete the folder and run `recherche hotpot` again"
        )


def is_hotpot(folder: Path) -> bool:
    """Whether `recherche hotpot` has claimed the folder."""
    return (folder / RECORD).is_file()


def read_hotpot_run(folder: Path) -> HotpotRun:
    """The points with their record.

    Raises:
        InputError: the folder is none of `recherche hotpot`, or a file of it is damaged.
    """
    if not is_hotpot(folder):
        raise InputError(f"{folder} holds no {RECORD}; name a folder that `recherche hotpot --out DIR` wrote.")
    record = read_record(folder / RECORD)
    try:
        choice = HotpotRecord.model_validate_json((folder / RECORD).read_text(encoding="utf-8", errors="replace"))
    except ValidationError as error:
        raise InputError(f"{folder / RECORD} is damaged: {explain(error)}; run `recherche hotpot` again.") from error
    remedy = "delete that line and run `recherche hotpot` again"
    points = read_models(folder / "results.jsonl", HotpotPoint, what="a result", remedy=remedy)
    last: dict[str, Any] = {point.point: point for point in points}
    return HotpotRun(folder=folder, record=record, choice=choice, points=tuple(last.values()))
