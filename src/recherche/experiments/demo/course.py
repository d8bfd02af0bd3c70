"""One model of the demonstration, from nothing to a folder of transformers: lesson after lesson, resumable.

FOLDER/config.json               the model and its course; a folder belongs to one configuration for ever
FOLDER/lesson-K.safetensors      state of the training in lesson K, rewritten as it goes
FOLDER/metrics.jsonl             a row every few steps
FOLDER/NAME/                     the folder of transformers, with its tokenizer
FOLDER/result.json               the numbers of the training; its presence says that the model is done
"""

import hashlib
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch.nn.functional import cross_entropy

from recherche._rng import numpy_generator, torch_generator
from recherche.errors import ConfigError
from recherche.experiments.cell import UNWATCHED, Progress, Stopped, Watch
from recherche.experiments.demo.presets import Student
from recherche.experiments.demo.rows import PackedRows, prose_tokens
from recherche.experiments.files import append_json_line, read_json, read_json_lines, write_json, write_json_lines
from recherche.lm.lessons import LessonWriter
from recherche.models.language_model import LanguageModel
from recherche.models.to_transformers import to_transformers
from recherche.texts.prose import prose
from recherche.training.checkpoint import load_training, save_training
from recherche.training.loop import Trainer
from recherche.training.state_passing import StatePassing

HELD_OUT_ROWS = 32
"""Rows of the length of the last lesson on which the loss of held-out prose is measured."""


class Enrolment(NamedTuple):
    """A student with all that decides its numbers.

    Attributes:
        name: of the model and of its folder.
        tokenizer: folder of the tokenizer.
    """

    name: str
    student: Student
    tokenizer: Path
    seed: int

    @property
    def num_steps(self) -> int:
        """Steps of all lessons."""
        return sum(lesson.plan.num_steps for lesson in self.student.lessons)

    @property
    def work(self) -> float:
        """Work in arbitrary units: tokens that are read."""
        lessons = self.student.lessons
        return float(sum(x.plan.num_steps * x.plan.batch_size * x.mixture.tokens for x in lessons))

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits that change with all that changes numbers, the tokenizer too."""
        digest = hashlib.sha256(f"{self.name}/{self.seed}/{self.student.model_dump_json()}".encode())
        digest.update((self.tokenizer / "tokenizer.json").read_bytes())
        return digest.hexdigest()[:12]


def run_course(enrolment: Enrolment, folder: Path, *, watch: Watch = UNWATCHED, device: str = "cpu") -> dict[str, Any]:
    """Train a model through its course, from wherever it stands, and save it for transformers.

    Raises:
        ConfigError: the folder belongs to another course.
        CheckpointError: a stored state is damaged.
        Stopped: `watch.stop` said so; everything is saved.
    """
    _claim(enrolment, folder)
    if (folder / "result.json").exists():
        return read_json(folder / "result.json")
    course = Course.open(enrolment, folder, watch, device)
    trainers = [course.teach(number) for number in range(len(enrolment.student.lessons))]
    course.save(folder / enrolment.name)
    seconds, tokens = sum(trainer.seconds for trainer in trainers), sum(trainer.tokens for trainer in trainers)
    loss = course.prose_loss()
    result = {
        "summary": f"{tokens:,} tokens in {seconds:,.0f} s, {loss:.2f} nats a token of held-out prose",
        "model": enrolment.name,
        "num_parameters": course.model.num_parameters,
        "train_steps": enrolment.num_steps,
        "train_tokens": tokens,
        "train_seconds": seconds,
        "tokens_per_second": tokens / seconds,
        "prose_loss": loss,
        "seed": enrolment.seed,
        "config_hash": enrolment.hash,
    }
    write_json(folder / "result.json", result)
    return result


def _claim(enrolment: Enrolment, folder: Path) -> None:
    path, mine = folder / "config.json", enrolment.hash
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        student = enrolment.student.model_dump(mode="json")
        write_json(path, {"name": enrolment.name, "seed": enrolment.seed, "hash": mine} | student)
    elif (owner := read_json(path)["hash"]) != mine:
        raise ConfigError(
            f"{folder} belongs to course {owner}, but {mine} was asked for; choose another output folder, or delete "
            "this one."
        )


class Course(NamedTuple):
    """A course at work in its folder."""

    enrolment: Enrolment
    folder: Path
    watch: Watch
    model: LanguageModel
    tokenizer: Any
    writer: LessonWriter
    prose: tuple[Int[np.ndarray, " t"], Int[np.ndarray, " u"]]

    @classmethod
    def open(cls, enrolment: Enrolment, folder: Path, watch: Watch, device: str) -> "Course":
        """Fresh weights, and the prose in tokens."""
        from transformers import AutoTokenizer

        model = LanguageModel(enrolment.student.model, torch_generator(enrolment.seed, "weights")).to(device)
        tokenizer = AutoTokenizer.from_pretrained(enrolment.tokenizer, local_files_only=True)
        writer = LessonWriter(tokenizer)
        return cls(enrolment, folder, watch, model, tokenizer, writer, prose_tokens(writer, prose()))

    def teach(self, number: int) -> Trainer:
        """Bring a lesson to its end, from wherever it stands; the weights are then in the model."""
        trainer, path = self._trainer(number), self._training_file(number)
        saved_at = time.monotonic()
        before = sum(lesson.plan.num_steps for lesson in self.enrolment.student.lessons[:number])
        for row in trainer.run(trainer.plan.num_steps):
            append_json_line(self.folder / "metrics.jsonl", {"lesson": number + 1} | row._asdict())
            note = f"lesson {number + 1}, loss {row.loss:.3f}, {row.tokens_per_second:,.0f} tokens/s"
            self.watch.report(Progress("train", before + row.step, self.enrolment.num_steps, note))
            stopping = self.watch.stop()
            if stopping or time.monotonic() - saved_at >= self.watch.save_every:
                self._save_training(trainer, path)
                saved_at = time.monotonic()
            if stopping:
                raise Stopped
        self._save_training(trainer, path)
        return trainer

    def save(self, folder: Path) -> None:
        """The model as a folder of transformers."""
        from transformers.utils import logging

        logging.disable_progress_bar()  # a bar for each file of weights would stand among our own lines
        to_transformers(self.model.eval(), folder, tokenizer=self.tokenizer)
        if self.enrolment.student.window is not None:
            narrow(folder, self.enrolment.student.window)

    @torch.inference_mode()
    def prose_loss(self) -> float:
        """Nats a token of held-out prose, in rows of the length of the last lesson."""
        tokens = self.enrolment.student.lessons[-1].mixture.tokens + 1
        num = min(HELD_OUT_ROWS, len(self.prose[1]) // tokens)
        x = torch.from_numpy(self.prose[1][: num * tokens].reshape(num, tokens)).to(self.model.device)
        return float(cross_entropy(self.model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten()))

    def _trainer(self, number: int) -> Trainer:
        """A trainer for a lesson, at the step where its file left it."""
        lesson, path = self.enrolment.student.lessons[number], self._training_file(number)
        trained: LanguageModel | StatePassing = self.model
        if not any(layer.state_grows for layer in self.model.config.layers):
            trained = StatePassing(self.model, batch_size=lesson.plan.batch_size, fresh_every=lesson.fresh_every)
        trainer = Trainer(
            model=trained,
            task=PackedRows(lesson.mixture, self.writer, self.prose[0]),
            plan=lesson.plan,
            generator=numpy_generator(self.enrolment.seed, f"lesson-{number + 1}"),
        )
        if path.exists():
            trainer.restore(load_training(path, trainer.model, trainer.optimizers, config_hash=self.enrolment.hash))
        metrics = read_json_lines(self.folder / "metrics.jsonl")
        kept = [row for row in metrics if row["lesson"] != number + 1 or row["step"] <= trainer.step]
        write_json_lines(self.folder / "metrics.jsonl", kept)
        return trainer

    def _training_file(self, number: int) -> Path:
        return self.folder / f"lesson-{number + 1}.safetensors"

    def _save_training(self, trainer: Trainer, path: Path) -> None:
        save_training(path, trainer.model, trainer.optimizers, trainer.state(), config_hash=self.enrolment.hash)


def narrow(folder: Path, window: int) -> None:
    """Let every layer of a saved Transformer see the last `window` tokens only: the weights stay as they are."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    config.use_sliding_window, config.sliding_window, config.max_window_layers = True, window, 0
    config.layer_types = ["sliding_attention"] * config.num_hidden_layers
    config.save_pretrained(folder)
