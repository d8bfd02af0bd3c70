"""One cell, from its configuration to its numbers: train, checkpoint, measure, write; resumable at every moment.

FOLDER/config.json           the whole configuration; a folder belongs to one configuration for ever
FOLDER/training.safetensors  state of the training, rewritten as it goes
FOLDER/metrics.jsonl         a row every few steps, and a row for each validation
FOLDER/model.safetensors     the trained weights
FOLDER/examples.jsonl        a few generated answers with their searches
FOLDER/result.json           the numbers; its presence says that the cell is done
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch

from recherche._rng import numpy_generator, torch_generator
from recherche.errors import ConfigError
from recherche.evaluation import evaluate_generated, evaluate_teacher_forced
from recherche.experiments.config import RunConfig
from recherche.experiments.files import append_json_line, read_json, read_json_lines, write_json, write_json_lines
from recherche.experiments.versions import device_name, versions
from recherche.mixers.state import state_bits
from recherche.models.language_model import LanguageModel
from recherche.tasks.base import AbstractTask, draw_keys
from recherche.training.checkpoint import load_training, load_weights, save_training, save_weights
from recherche.training.loop import Trainer

NUM_EXAMPLES = 6
NUM_TEACHER_FORCED = 500


class Progress(NamedTuple):
    """How far a cell is.

    Attributes:
        phase: "train" or "evaluate".
        done: steps or samples done.
        total: steps or samples in all.
        note: a few words for a person, such as the current loss.
    """

    phase: str
    done: int
    total: int
    note: str


class Stopped(Exception):  # noqa: N818  (not an error: the caller asked)
    """The cell was asked to stop; its state has been saved."""


class Watch(NamedTuple):
    """The two ends of a conversation with whoever runs the cell.

    Attributes:
        stop: asked between rows of metrics; True ends the cell after saving it.
        report: told how far the cell is.
        save_every: seconds between two checkpoints; what a crash can cost.
    """

    stop: Callable[[], bool] = lambda: False
    report: Callable[[Progress], None] = lambda progress: None
    save_every: float = 60.0


UNWATCHED = Watch()


def claim(folder: Path, config: RunConfig) -> None:
    """Make `folder` the folder of `config`.

    Raises:
        ConfigError: it belongs to another configuration.
    """
    path = folder / "config.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, config.model_dump(mode="json"))
        return
    owner = RunConfig.load(path)
    if owner != config:
        raise ConfigError(
            f"{folder} belongs to configuration {owner.hash}, but {config.hash} was asked for "
            f"({_first_difference(owner, config)}); choose another output folder, or delete this one."
        )


def run_cell(config: RunConfig, folder: Path, *, watch: Watch = UNWATCHED, device: str = "cpu") -> dict[str, Any]:
    """Bring a cell to its end, from wherever it stands, and return its result.

    Raises:
        ConfigError: the folder belongs to another configuration.
        CheckpointError: a stored state is damaged.
        Stopped: `watch.stop` said so; everything is saved.
    """
    claim(folder, config)
    if (folder / "result.json").exists():
        return read_json(folder / "result.json")
    cell = Cell(config, folder, watch, device)
    attempts = cell.train_until_solved()
    result = cell.measure() | _training_record(attempts)
    write_json(folder / "result.json", result)
    return result


class Cell(NamedTuple):
    """A configuration at work in its folder."""

    config: RunConfig
    folder: Path
    watch: Watch
    device: str

    def train_until_solved(self) -> list[dict[str, Any]]:
        """Train by one plan after the other until validation says solved; returns what each attempt reached."""
        attempts = read_json_lines(self.folder / "attempts.jsonl")
        plans = self.config.plans
        while not attempts or (not attempts[-1]["solved"] and len(attempts) < len(plans)):
            attempts.append(self._attempt(len(attempts)))
            write_json_lines(self.folder / "attempts.jsonl", attempts)
        return attempts

    def measure(self) -> dict[str, Any]:
        """Answer fresh problems with the stored weights; writes examples and returns the numbers."""
        config, task = self.config, self.config.task.build()
        model = self._new_model()
        load_weights(self.folder / "model.safetensors", model, config_hash=config.hash)
        model.eval()
        keys = draw_keys(numpy_generator(config.seed, "test"), config.evaluation.num_samples)
        generated = evaluate_generated(
            model,
            task,
            keys=keys,
            batch_size=config.evaluation.batch_size,
            num_examples=NUM_EXAMPLES,
            progress=lambda done: self.watch.report(Progress("evaluate", done, len(keys), "")),
        )
        forced = evaluate_teacher_forced(
            model, task, keys=keys[:NUM_TEACHER_FORCED], batch_size=config.evaluation.batch_size
        )
        write_json_lines(self.folder / "examples.jsonl", generated.examples)
        return {
            "architecture": config.architecture,
            "protocol": config.task.protocol,
            "n_nodes": config.task.n,
            "size": config.size,
            "num_parameters": model.num_parameters,
            "state_bits": state_bits_after_prompt(model, task),
            "accuracy": generated.accuracy,
            "accuracy_low": generated.low,
            "accuracy_high": generated.high,
            "num_samples": generated.num_samples,
            "num_undecided": generated.num_undecided,
            "exact_trace_rate": generated.num_exact / generated.num_samples,
            "measured_by": "generation",
            "teacher_forced_accuracy": forced.per_trace,
            "teacher_forced_token_accuracy": forced.per_token,
            "seed": config.seed,
            "config_hash": config.hash,
            "versions": versions(),
            "device": device_name(self.device),
        }

    def _attempt(self, number: int) -> dict[str, Any]:
        trainer = self._trainer(number)
        training_file = self._training_file(number)
        saved_at = time.monotonic()
        for row in trainer.run(trainer.plan.num_steps):
            append_json_line(self.folder / "metrics.jsonl", row._asdict() | {"attempt": number})
            note = f"loss {row.loss:.3f}, n {row.n}"
            self.watch.report(Progress("train", row.step, trainer.plan.num_steps, note))
            stopping = self.watch.stop()
            if stopping or time.monotonic() - saved_at >= self.watch.save_every:
                self._save(trainer, training_file)
                saved_at = time.monotonic()
            if stopping:
                raise Stopped
            if self._solved_early(trainer, number):
                break
        self._save(trainer, training_file)
        save_weights(self.folder / "model.safetensors", trainer.model, config_hash=self.config.hash)
        accuracy = self._validate(trainer, number)
        return {
            "train_steps": trainer.step,
            "train_samples": trainer.samples,
            "validation_accuracy": accuracy,
            "solved": accuracy >= self.config.evaluation.solved_at,
            "level_reached": trainer.level.n,
            "train_seconds": trainer.seconds,
            "tokens_per_second": trainer.tokens / trainer.seconds,
        }

    def _trainer(self, number: int) -> Trainer:
        """A trainer for plan `number`, at the step where its file left it."""
        trainer = Trainer(
            model=self._new_model(),
            task=self.config.task.build(),
            plan=self.config.plans[number],
            generator=numpy_generator(self.config.seed, f"train-{number}"),
        )
        path = self._training_file(number)
        if path.exists():
            trainer.restore(load_training(path, trainer.model, trainer.optimizers, config_hash=self.config.hash))
        metrics = read_json_lines(self.folder / "metrics.jsonl")
        kept = [row for row in metrics if (row["attempt"], row["step"]) <= (number, trainer.step)]
        write_json_lines(self.folder / "metrics.jsonl", kept)
        return trainer

    def _new_model(self) -> LanguageModel:
        return LanguageModel(self.config.model, torch_generator(self.config.seed, "weights")).to(self.device)

    def _training_file(self, number: int) -> Path:
        return self.folder / ("training.safetensors" if number == 0 else f"training-{number + 1}.safetensors")

    def _save(self, trainer: Trainer, path: Path) -> None:
        save_training(path, trainer.model, trainer.optimizers, trainer.state(), config_hash=self.config.hash)

    def _solved_early(self, trainer: Trainer, number: int) -> bool:
        every = self.config.evaluation.validate_every
        if not every or trainer.step % every:
            return False
        accuracy = self._validate(trainer, number)
        return self.config.evaluation.stop_when_solved and accuracy >= self.config.evaluation.solved_at

    def _validate(self, trainer: Trainer, number: int) -> float:
        plan = self.config.evaluation
        keys = draw_keys(numpy_generator(self.config.seed, "validation"), plan.num_validation)
        model, task = trainer.model.eval(), self.config.task.build()
        assert isinstance(model, LanguageModel)
        if plan.validate_on == "questions":
            accuracy = evaluate_teacher_forced(model, task, keys=keys, batch_size=plan.batch_size).per_token
        else:
            accuracy = evaluate_generated(model, task, keys=keys, batch_size=plan.batch_size).accuracy
        row = {"step": trainer.step, "validation_accuracy": accuracy, "attempt": number}
        append_json_line(self.folder / "metrics.jsonl", row)
        return accuracy


def state_bits_after_prompt(model: LanguageModel, task: AbstractTask) -> int:
    """Bits of the live state of one row after the longest prompt of a few."""
    batch = task.sample_batch(numpy_generator(0, "state-bits"), 8)
    row = int(batch.prompt_lengths.argmax())
    prompt = torch.from_numpy(batch.tokens[row : row + 1, : batch.prompt_lengths[row]]).to(model.device)
    with torch.inference_mode():
        _, state = model.prefill(prompt)
    return state_bits(state)


def _training_record(attempts: list[dict[str, Any]]) -> dict[str, Any]:
    last = attempts[-1]
    names = ("train_steps", "train_samples", "level_reached", "train_seconds", "tokens_per_second")
    return {name: last[name] for name in names} | {"attempts": attempts}


def _first_difference(a: RunConfig, b: RunConfig) -> str:
    """The first setting in which two configurations differ, with both values."""
    left, right = dict(_leaves(a.model_dump(mode="json"), "")), dict(_leaves(b.model_dump(mode="json"), ""))
    path = next(path for path in [*left, *right] if left.get(path) != right.get(path))
    return f"{path} is {left.get(path)!r} there and {right.get(path)!r} here"


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in items:
            yield from _leaves(child, f"{path}.{key}" if path else str(key))
    else:
        yield path, value
