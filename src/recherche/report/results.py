"""Reads a run folder: what was asked for (reproduce.json), what came out (results.jsonl), what failed or is missing.

    DIR/reproduce.json          preset, seed, versions, machine, the names of all cells, the failed ones
    DIR/results.jsonl           a line for each finished cell; a cell measured again counts by its last line
    DIR/cells/NAME/             config.json, metrics.jsonl, examples.jsonl of each cell

Lines may carry more columns than are read here, so that a sweep can add its own.
"""

import json
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recherche.errors import InputError

Model = TypeVar("Model", bound=BaseModel)

_CELL_NAME = re.compile(
    r"(?P<architecture>[^-]+)-(?P<protocol>[^-]+)-n(?P<n_nodes>\d+)(?:-(?P<size>(?!seed)[^-]+))?(?:-seed\d+)?"
)


@final
class CellResult(BaseModel):
    """The numbers of one cell.

    Attributes:
        cell: name of the cell and of its folder.
        size: label of the model's size.
        state_bits: live state of one row after the prompt, in bits.
        accuracy: share of right answers by generation; an undecided one counts half.
        accuracy_low: lower end of the 95 % interval.
        accuracy_high: upper end.
        num_samples: fresh problems answered.
        num_undecided: problems without an answer within the budget.
        exact_trace_rate: share of generated traces equal to the reference trace.
        teacher_forced_accuracy: share of problems whose every token is right when the reference trace is fed.
        level_reached: the n at which the curriculum stood when training ended.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    cell: str = Field(pattern=r"^[^/\\]*[^/\\.][^/\\]*$")
    architecture: str
    protocol: str
    n_nodes: int
    size: str = ""
    num_parameters: int | None = None
    state_bits: int | None = None
    accuracy: float = Field(ge=0, le=1)
    accuracy_low: float = Field(ge=0, le=1)
    accuracy_high: float = Field(ge=0, le=1)
    num_samples: int
    num_undecided: int = 0
    exact_trace_rate: float | None = None
    measured_by: str = "generation"
    teacher_forced_accuracy: float | None = None
    train_samples: int | None = None
    train_steps: int | None = None
    level_reached: int | None = None
    train_seconds: float | None = None
    tokens_per_second: float | None = None
    seed: int = 0
    config_hash: str = ""
    device: str = ""

    @property
    def finished_curriculum(self) -> bool:
        """Whether training ended at the size that is measured; cells without a curriculum did."""
        return self.level_reached is None or self.level_reached >= self.n_nodes


@final
class Failure(BaseModel):
    """A cell that did not come to its end, and why."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    cell: str
    error: str = ""


@final
class RunRecord(BaseModel):
    """What was asked for, and where and when it ran."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    preset: str = ""
    summary: str = ""
    seeds: tuple[int, ...] = ()
    versions: dict[str, Any] = Field(default_factory=dict)
    machine: dict[str, Any] = Field(default_factory=dict)
    device: str = ""
    jobs: int | None = None
    wall_seconds: float | None = None
    started: str | None = None
    finished: str | None = None
    cells: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()

    def absent(self, measured: Set[str]) -> tuple[Failure, ...]:
        """The cells without numbers: the failed ones with their error, the others without."""
        errors = {failure.cell: failure for failure in self.failed}
        names = dict.fromkeys((*self.cells, *errors))
        return tuple(errors.get(name, Failure(cell=name)) for name in names if name not in measured)


@final
@dataclass(frozen=True, slots=True)
class CellName:
    """What the name of a cell says about it, for cells that have no result."""

    architecture: str
    protocol: str
    n_nodes: int
    size: str

    @classmethod
    def parse(cls, name: str) -> "CellName | None":
        """The parts of a cell's name; None if it follows another scheme.

        >>> CellName.parse("mamba-cot-n16-0.5M-seed1")
        CellName(architecture='mamba', protocol='cot', n_nodes=16, size='0.5M')
        """
        found = _CELL_NAME.fullmatch(name)
        if not found:
            return None
        return cls(found["architecture"], found["protocol"], int(found["n_nodes"]), found["size"] or "")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run folder, read."""

    folder: Path
    record: RunRecord
    results: tuple[CellResult, ...]

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.folder.resolve().name

    @property
    def absent(self) -> tuple[Failure, ...]:
        """The cells that were asked for and have no result: the failed ones with their error, the others without."""
        return self.record.absent({result.cell for result in self.results})

    def cell_folder(self, cell: str) -> Path:
        """Where the files of one cell are."""
        return self.folder / "cells" / cell


def read_json_lines(path: Path) -> list[Any]:
    """The values of a JSON-lines file; none if there is no file, and without a last line that was cut off.

    Raises:
        InputError: another line is not JSON.
    """
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    values = []
    for number, line in enumerate(lines, start=1):
        try:
            values.append(json.loads(line))
        except json.JSONDecodeError as error:
            if number < len(lines):
                raise InputError(f"Line {number} of {path} is not JSON ({error}); delete that line.") from error
    return values


def read_models(path: Path, model: type[Model], *, what: str, remedy: str) -> list[Model]:
    """The lines of a file as values of a model; none if there is no file.

    Args:
        what: what a line is, for the message.
        remedy: what to do about one that is not.

    Raises:
        InputError: a line is no such value.
    """
    found = []
    for number, values in enumerate(read_json_lines(path), start=1):
        try:
            found.append(model.model_validate(values))
        except ValidationError as error:
            raise InputError(f"Line {number} of {path} is not {what}: {explain(error)}; {remedy}.") from error
    return found


def read_results(folder: Path) -> list[CellResult]:
    """The measured cells of a run folder, in the order in which they were measured.

    Raises:
        InputError: there is no results.jsonl, or a line of it is not a result.
    """
    path = folder / "results.jsonl"
    if not path.is_file():
        raise InputError(
            f"{folder} holds no results.jsonl, so there is nothing to report; "
            "name a folder that `recherche reproduce --out DIR` wrote."
        )
    results: dict[str, CellResult] = {}
    for result in read_models(path, CellResult, what="a result", remedy="measure it again"):
        results.pop(result.cell, None)
        results[result.cell] = result
    return list(results.values())


def read_run(folder: Path) -> Run:
    """A run folder with its record; one whose record names cells is a run even if none of them has a result.

    Raises:
        InputError: the folder holds neither results nor a record of cells, or a file of it is damaged.
    """
    record = read_record(folder / "reproduce.json")
    nothing_yet = (record.cells or record.failed) and not (folder / "results.jsonl").exists()
    results = [] if nothing_yet else read_results(folder)
    if not results and not record.cells and not record.failed:
        raise InputError(
            f"{folder / 'results.jsonl'} is empty and no reproduce.json names its cells; name another folder."
        )
    return Run(folder=folder, record=record, results=tuple(results))


def distinct(values: Sequence[Any]) -> tuple[Any, ...]:
    """The distinct values, sorted."""
    return tuple(sorted(set(values)))


def read_record(path: Path) -> RunRecord:
    """The record of a run or a sweep; an empty one where there is no file.

    Raises:
        InputError: the file is damaged.
    """
    if not path.is_file():
        return RunRecord()
    try:
        return RunRecord.model_validate_json(path.read_text(encoding="utf-8", errors="replace"))
    except ValidationError as error:
        raise InputError(f"{path} is not the record of a run: {explain(error)}; run the preset again.") from error


def explain(error: ValidationError) -> str:
    """What is wrong with the first few fields."""
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the whole'}: {e['msg']}" for e in error.errors()[:3])
