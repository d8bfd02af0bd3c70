"""A sweep as a file: tasks x models x sizes in YAML, each point of the grid a run of its own.

    summary: two mixers on MQAR
    d_model: 32
    tasks:
      - {name: mqar, n: [8, 16], options: {n_keys: 16}}     # trained on both lengths, measured at both
    models:
      attention: {layers: {mixer: attention}, repeat: 2}
      mamba:     {layers: {mixer: mamba, d_state: [2, 8]}, repeat: 2}
    training: {num_steps: 500, batch_size: 64}

A list in a place where a layer has one value is an axis: `d_state: [2, 8]` are two sizes of that model. Several lists
of one model run side by side (first with first), so they have equal lengths. `training` holds the fields of a training
plan; a task or a model may overrule some of them. Unknown keys are errors.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.experiments.config import EvaluationPlan, RunConfig, TaskConfig, explain
from recherche.mixers.base import LayerConfig
from recherche.models.config import LanguageModelConfig
from recherche.models.embeddings import Embedding, Head, LearnedHead, OrthogonalEmbedding
from recherche.tasks.base import affordable
from recherche.training.curriculum import Mixed
from recherche.training.optimizers import MuonAdamW
from recherche.training.plan import TrainingPlan
from recherche.training.schedules import WarmupStableDecay

Axis = int | float | str | None | list[int] | list[float]
Label = Annotated[str, Field(pattern=r"^\w[\w.-]*$")]
"""The name of a model, which becomes part of folder names."""

_DEFAULT_TRAINING: Mapping[str, Any] = MappingProxyType(
    {"batch_size": 64, "optimizer": MuonAdamW().model_dump(), "schedule": WarmupStableDecay().model_dump()}
)


class SweepCell(NamedTuple):
    """A point of the grid: one training, measured at several n.

    Attributes:
        config: the training; its `architecture` is the model's name in the grid, its `size` the values on its axes.
        sizes: the n at which the trained model is measured.
    """

    config: RunConfig
    sizes: tuple[int, ...]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@final
class TaskAxis(_Part):
    """A task of the grid.

    Attributes:
        name: key of the task registry.
        n: sizes to train on, each as often as the others; the largest is the task's own.
        measured_n: sizes to measure at; those of the training if empty.
        options: the task's own settings.
        training: fields of the training plan that differ for this task.
    """

    name: str
    n: tuple[int, ...] = Field(min_length=1)
    measured_n: tuple[int, ...] = ()
    protocol: str = "direct"
    options: dict[str, str | int] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)

    @property
    def config(self) -> TaskConfig:
        """The task at its largest size."""
        return TaskConfig(name=self.name, n=max(self.n), protocol=self.protocol, options=self.options)


@final
class ModelAxis(_Part):
    """A model of the grid, in one size or several.

    Attributes:
        layers: one layer or several, as in a model's configuration; a list of values makes a size of each.
        repeat: how often the layers follow each other.
        d_model: width, or widths; the grid's own if None.
        training: fields of the training plan that differ for this model.
    """

    layers: dict[str, Axis] | list[dict[str, Axis]]
    repeat: int = Field(default=1, ge=1)
    d_model: int | list[int] | None = None
    training: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _axes_are_equally_long(self) -> "ModelAxis":
        lengths = {name: len(values) for name, values in self._axes()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the lists of one model run side by side, but have lengths {lengths}; make them equal")
        return self

    def sizes(self, d_model: int) -> Iterator[tuple[str, int, list[dict[str, Any]]]]:
        """For each size its label, its width and its layers; `d_model` is the width of a model that names none."""
        axes = dict(self._axes())
        for i in range(max((len(values) for values in axes.values()), default=1)):
            layers = [{name: _at(value, i) for name, value in layer.items()} for layer in self._layers]
            label = ", ".join(f"{name} {values[i]}" for name, values in axes.items())
            width = _at(self.d_model, i)
            yield label, width if width is not None else d_model, layers * self.repeat

    @property
    def _layers(self) -> list[dict[str, Axis]]:
        return self.layers if isinstance(self.layers, list) else [self.layers]

    def _axes(self) -> Iterator[tuple[str, list[Any]]]:
        named = [("d_model", self.d_model), *(item for layer in self._layers for item in layer.items())]
        yield from ((name, value) for name, value in named if isinstance(value, list))


def _at(value: Any, i: int) -> Any:
    return value[i] if isinstance(value, list) else value


@final
class SweepGrid(_Part):
    """A whole grid.

    Attributes:
        summary: one line for `recherche list sweeps` and the report.
        d_model: width of the models that name none.
        training: fields of the training plan (`num_steps` at least), shared by all points.
        evaluation: how often training looks up, when it stops, and on how many fresh texts a point is measured.
    """

    summary: str
    tasks: tuple[TaskAxis, ...] = Field(min_length=1)
    models: dict[Label, ModelAxis] = Field(min_length=1)
    training: dict[str, Any]
    d_model: int = Field(default=64, ge=1)
    embedding: Embedding = OrthogonalEmbedding()
    head: Head = LearnedHead()
    evaluation: EvaluationPlan = EvaluationPlan()

    def cells(self, seed: int) -> dict[str, SweepCell]:
        """Every point of the grid, by a name that ends in the hash of its configuration.

        Raises:
            ConfigError: a task, mixer, option or training field that does not exist, or sizes that do not fit.
        """
        cells: dict[str, SweepCell] = {}
        built: set[tuple[LayerConfig, int]] = set()
        for task in self.tasks:
            for label, model in self.models.items():
                for size, d_model, layers in model.sizes(self.d_model):
                    config = self._config(task, model, (label, size, d_model, layers), seed)
                    shapes = {(layer, d_model) for layer in config.model.layers}
                    for layer, width in shapes - built:
                        layer.build(width)  # refuses sizes that do not fit, before anything runs
                    built |= shapes
                    slug = "-".join(filter(None, [task.name, f"n{max(task.n)}", label, _slug(size), config.hash]))
                    cells[slug] = SweepCell(config, tuple(sorted(set(task.measured_n or task.n))))
        return cells

    def _config(self, task: TaskAxis, model: ModelAxis, point: tuple[str, str, int, list[Any]], seed: int) -> RunConfig:
        label, size, d_model, layers = point
        curriculum = {"curriculum": Mixed(sizes=task.n).model_dump()} if len(task.n) > 1 else {}
        training = {**_DEFAULT_TRAINING, **curriculum, **self.training, **task.training, **model.training}
        counted = {"validate_on": "questions"} if task.protocol == "direct" else {}
        where = f"{task.name} for {label}{f' ({size})' if size else ''}"
        try:
            vocab_size = len(task.config.build().vocab)
            for n in (*task.n, *task.measured_n):
                affordable(task.config.build().at_size(n))
            return RunConfig(
                architecture=label,
                size=size,
                task=task.config,
                model=LanguageModelConfig.model_validate(
                    {
                        "d_model": d_model,
                        "vocab_size": vocab_size,
                        "layers": layers,
                        "embedding": self.embedding,
                        "head": self.head,
                    }
                ),
                plans=(TrainingPlan.model_validate(training),),
                evaluation=self.evaluation.model_copy(update=counted),
                seed=seed,
            )
        except ValidationError as error:
            kind: type[BaseModel] = TrainingPlan if error.title == "TrainingPlan" else RunConfig
            raise ConfigError(f"The point {where} cannot be run: {explain(error, kind)}.") from error


def _slug(size: str) -> str:
    return size.replace("_", "").replace(" ", "").replace(",", "-")


@cache
def shipped_sweeps() -> Mapping[str, str]:
    """The text of every grid that ships with the package, by NAME-PRESET."""
    folder = resources.files("recherche") / "sweeps"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    return MappingProxyType({file.name.removesuffix(".yaml"): file.read_text(encoding="utf-8") for file in found})


def find_sweep(name_or_path: str, preset: str) -> tuple[str, SweepGrid]:
    """A shipped grid by its name and preset, or the grid in a YAML file; with the label that its folder gets.

    Raises:
        ConfigError: nothing of that name ships, or a file that cannot be read or is no grid.
    """
    if name_or_path.endswith((".yaml", ".yml")):
        path = Path(name_or_path)
        try:
            return path.stem, parse_sweep(path.read_text(encoding="utf-8"), source=str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"Cannot read the sweep {path}: {error}.") from error
    names: dict[str, dict[str, str]] = {}
    for stem, text in shipped_sweeps().items():
        name, _, of = stem.partition("-")
        names.setdefault(name, {})[of] = text
    text = lookup(lookup(names, name_or_path, what="sweep"), preset, what=f"preset of {name_or_path}")
    return f"{name_or_path}-{preset}", parse_sweep(text, source=f"{name_or_path}-{preset}.yaml")


def parse_sweep(text: str, *, source: str) -> SweepGrid:
    """A grid from its YAML.

    Args:
        source: where the text comes from, named in the message.

    Raises:
        ConfigError: it is not YAML, or a key or value is wrong.
    """
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{source} is not YAML: {error}; see docs/sweeps.md for an example.") from error
    try:
        return SweepGrid.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{source} is not a sweep: {explain(error, SweepGrid)}.") from error
