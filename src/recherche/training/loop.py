"""The training loop: fresh batches, next-token loss on what the model must produce, a row of metrics now and then.

It returns rows and prints nothing; progress, files and stopping belong to the caller. All state that the next step
depends on is in `Trainer`, so saving that is saving the run: the weights, the optimisers, the level of the curriculum
and the data generator. Given the same state, the next step is the same to the last bit.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, final, runtime_checkable

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

from recherche.batching import IGNORE_INDEX, to_tensors
from recherche.models.language_model import LanguageModel
from recherche.tasks.base import Batch
from recherche.training.checkpoint import TrainingState
from recherche.training.curriculum import Curriculum, Level
from recherche.training.plan import TrainingPlan
from recherche.training.state_passing import StatePassing


@runtime_checkable
class Rows(Protocol):
    """Where batches come from: a task, or anything else that has sizes."""

    @property
    def size(self) -> int:
        """The size that a curriculum ends at."""

    def at_size(self, n: int) -> "Rows":
        """The same of another size."""

    def sample_batch(self, generator: np.random.Generator, batch_size: int) -> Batch:
        """Fresh rows."""


class Row(NamedTuple):
    """Metrics of the steps since the last row.

    Attributes:
        step: number of steps done.
        samples: number of samples seen.
        n: size that the curriculum has reached.
        loss: mean training loss in nats per scored token.
        tokens_per_second: real (unpadded) tokens trained on, per second of wall time.
        seconds: wall time spent training so far, over all sessions of the run.
    """

    step: int
    samples: int
    n: int
    loss: float
    tokens_per_second: float
    seconds: float


@final
@dataclass(slots=True, kw_only=True)
class Trainer:
    """A run in the middle of its training."""

    model: LanguageModel | StatePassing
    task: Rows
    plan: TrainingPlan
    generator: np.random.Generator
    optimizers: tuple[torch.optim.Optimizer, ...] = ()
    level: Level = field(init=False)
    step: int = field(init=False, default=0)
    tokens: int = field(init=False, default=0)
    seconds: float = field(init=False, default=0.0)
    _base_lrs: list[list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self.optimizers = self.optimizers or self.plan.optimizer.build(self.model)
        self.level = self.plan.curriculum.start(self.task.size)
        self._base_lrs = [[group["lr"] for group in optimizer.param_groups] for optimizer in self.optimizers]

    @property
    def samples(self) -> int:
        """Number of samples seen."""
        return self.step * self.plan.batch_size

    def state(self) -> TrainingState:
        """What a checkpoint stores beside the tensors."""
        progress = {
            "level": self.level.model_dump(),
            "generator": self.generator.bit_generator.state,
            "tokens": self.tokens,
            "seconds": self.seconds,
        }
        return TrainingState(step=self.step, progress=progress)

    def restore(self, state: TrainingState) -> None:
        """Take up a stored state; the tensors have been loaded into the model and the optimisers."""
        self.step = state.step
        self.level = Level(**state.progress["level"])
        self.generator.bit_generator.state = state.progress["generator"]
        self.tokens = state.progress["tokens"]
        self.seconds = state.progress["seconds"]

    def run(self, num_steps: int) -> Iterator[Row]:
        """Train until `num_steps` steps are done in all; yields a row every `plan.log_every` steps and at the end.

        The schedule is that of `plan.num_steps`; the caller may stop between any two rows.
        """
        while self.step < num_steps:
            yield self._some_steps(min(num_steps, self.step + self.plan.log_every - self.step % self.plan.log_every))

    def _some_steps(self, until: int) -> Row:
        started, tokens_before, losses = time.perf_counter(), self.tokens, []
        self.model.train()
        while self.step < until:
            losses.append(self._one_step())
        elapsed = time.perf_counter() - started
        self.seconds += elapsed
        return Row(
            step=self.step,
            samples=self.samples,
            n=self.level.n,
            loss=sum(losses) / len(losses),
            tokens_per_second=(self.tokens - tokens_before) / elapsed,
            seconds=self.seconds,
        )

    def _one_step(self) -> float:
        curriculum: Curriculum = self.plan.curriculum
        size = curriculum.next_size(self.level, self.generator)
        batch = self.task.at_size(size).sample_batch(self.generator, self.plan.batch_size)
        inputs, targets = to_tensors(batch, device=self.model.device)
        self._set_learning_rates()
        logits = self.model(inputs)
        loss = cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE_INDEX)
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        clip_grad_norm_([w for w in self.model.parameters() if w.grad is not None], self.plan.clip_norm, foreach=True)
        for optimizer in self.optimizers:
            optimizer.step()
        value = float(loss.detach())
        self.level = curriculum.advance(self.level, value, final_n=self.task.size)
        self.tokens += int(batch.lengths.sum())
        self.step += 1
        return value

    def _set_learning_rates(self) -> None:
        factor = self.plan.schedule.factor(self.step, self.plan.num_steps)
        for optimizer, base in zip(self.optimizers, self._base_lrs, strict=True):
            for group, lr in zip(optimizer.param_groups, base, strict=True):
                group["lr"] = lr * factor
