"""A run as a value: strict, printable, hashable, rebuilt from its JSON to the last field.

The hash covers everything that changes numbers (the seed too) and nothing that does not (output folder, number of
processes, progress). Unknown keys, other versions and misspelt names are refused with the nearest right ones.
"""

import difflib
import hashlib
import json
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.models.config import LanguageModelConfig
from recherche.tasks import TASKS
from recherche.tasks.base import AbstractTask, affordable
from recherche.training.plan import TrainingPlan

VERSION: Final = 1
_SILENT: Final = MappingProxyType({"validate_on": "answer"})
"""Fields of an evaluation plan that came later, with the value that all runs had before: it leaves the hash alone."""


@final
class TaskConfig(BaseModel):
    """Which problems, how large, worked out by which protocol.

    Attributes:
        name: key of the task registry.
        n: the task's size.
        protocol: direct, cot or retrieval.
        options: the task's own settings by name (for IsTree: graphs, naming).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    n: int
    protocol: str
    options: dict[str, str | int] = Field(default_factory=dict)

    def build(self) -> AbstractTask:
        """The task itself.

        Raises:
            ConfigError: an unknown name, protocol or option, or a size that is too small.
        """
        kind = lookup(TASKS, self.name, what="task")
        return affordable(kind.configured(n=self.n, protocol=self.protocol, **self.options))


@final
class EvaluationPlan(BaseModel):
    """How a run is measured.

    Attributes:
        num_samples: fresh problems answered by generation at the end.
        batch_size: rows decoded at once.
        validate_every: steps between two validations by generation; 0 means at the end of training only.
        num_validation: problems in a validation.
        solved_at: validation accuracy from which the task counts as solved: no further plan is tried.
        stop_when_solved: whether training ends at the first validation that reaches `solved_at`.
        validate_on: what a validation counts: the answer that the model generates, or every question of a text, the
            right answers to the earlier ones being given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    num_samples: int = Field(default=2000, ge=1)
    batch_size: int = Field(default=250, ge=1)
    validate_every: int = Field(default=0, ge=0)
    num_validation: int = Field(default=500, ge=1)
    solved_at: float = Field(default=0.97, gt=0, le=1)
    stop_when_solved: bool = False
    validate_on: Literal["answer", "questions"] = "answer"


@final
class RunConfig(BaseModel):
    """One cell: a model, a task, a way to train it, a way to measure it, a seed.

    Attributes:
        architecture: label of the model (transformer, mamba, hybrid, or a user's own word).
        size: label of its size.
        plans: training plans; the next one starts from scratch when the one before left the task unsolved.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: Literal[1] = VERSION
    architecture: str
    size: str
    task: TaskConfig
    model: LanguageModelConfig
    plans: tuple[TrainingPlan, ...] = Field(min_length=1)
    evaluation: EvaluationPlan = EvaluationPlan()
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _vocabularies_agree(self) -> "RunConfig":
        needed = len(self.task.build().vocab)
        if self.model.vocab_size != needed:
            raise ValueError(
                f"the task {self.task.name} of size {self.task.n} has {needed} tokens, but the model is configured for "
                f"{self.model.vocab_size}; set model.vocab_size={needed}"
            )
        return self

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits that change with any field."""
        values = self.model_dump(mode="json")
        plan = values["evaluation"]
        values["evaluation"] = {name: value for name, value in plan.items() if _SILENT.get(name) != value}
        canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    @classmethod
    def parse(cls, values: Any, *, source: str) -> "RunConfig":
        """A configuration from plain values.

        Args:
            source: where the values come from, named in the message.

        Raises:
            ConfigError: a key or value is wrong.
        """
        if isinstance(values, dict) and values.get("version", VERSION) != VERSION:
            raise ConfigError(
                f"{source} is a configuration of version {values['version']!r}, this is version {VERSION}; "
                "make it again with this release, or read it with the release that wrote it."
            )
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(f"{source} is not a run configuration: {explain(error, cls)}") from error

    @classmethod
    def load(cls, path: Path) -> "RunConfig":
        """A configuration from a JSON file.

        Raises:
            ConfigError: the file is missing or wrong.
        """
        try:
            values = json.loads(path.read_text())
        except FileNotFoundError as error:
            raise ConfigError(
                f"There is no run configuration {path}; name the folder of a cell that was run."
            ) from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} is not JSON ({error}); restore it or start the run again.") from error
        return cls.parse(values, source=str(path))

    def replace(self, assignments: tuple[str, ...]) -> "RunConfig":
        """The configuration with `path.to.field=value` assignments applied, each value read as JSON or else as text.

        Raises:
            ConfigError: a path that does not exist, or a value of the wrong kind.
        """
        values = self.model_dump(mode="json")
        for assignment in assignments:
            path, separator, text = assignment.partition("=")
            if not separator:
                raise ConfigError(f"An override is path.to.field=value, got {assignment!r}; add '=' and a value.")
            _assign(values, path, _json_or_text(text))
        return RunConfig.parse(values, source="the configuration with your overrides")


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _assign(values: Any, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for key in parents:
        values = _child(values, key, path)
    _child(values, last, path)
    values[int(last) if isinstance(values, list) else last] = value


def _child(values: Any, key: str, path: str) -> Any:
    if isinstance(values, list) and key.isdigit() and int(key) < len(values):
        return values[int(key)]
    names = list(values) if isinstance(values, dict) else [str(i) for i in range(len(values or ()))]
    if not isinstance(values, dict) or key not in values:
        raise ConfigError(f"There is no setting {path!r}: {_near(key, names)}")
    return values[key]


def _near(key: str, names: list[str]) -> str:
    near = difflib.get_close_matches(key, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{key!r} is unknown; {hint}Choose from: {', '.join(names)}."


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """What is wrong with the values of a `model`, place by place; unknown keys with the nearest right ones."""
    lines = []
    for problem in error.errors():
        place = ".".join(str(part) for part in problem["loc"]) or "the whole"
        if problem["type"] == "extra_forbidden":
            lines.append(f"{place}: {_near(str(problem['loc'][-1]), _fields_at(model, problem['loc'][:-1]))}")
        else:
            lines.append(f"{place}: {problem['msg']}, got {problem['input']!r:.80}")
    return "; ".join(lines)


def _fields_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Names of the settings at a place; a place runs through field names, list indices and the tags of unions."""
    models: list[Any] = [model]
    for part in place:
        owners = [model for model in models if part in model.model_fields]
        if owners:
            models = [inner for model in owners for inner in _models_inside(model.model_fields[part].annotation)]
        elif isinstance(part, str):
            tagged = [m for m in models if any(field.default == part for field in m.model_fields.values())]
            models = tagged or models
    return [name for model in models for name in model.model_fields]


def _models_inside(annotation: Any) -> list[Any]:
    if hasattr(annotation, "model_fields"):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_inside(part)]
