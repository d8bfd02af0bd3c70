"""What is taught, how, and how it is watched: all that changes the numbers of a teaching, as one value.

Lessons are a mixture: a share of prose, which keeps the old ability, and texts of the tasks, each with a task, a size
and a protocol drawn at random. Held out are tasks, and sizes of all tasks; they are only measured.
"""

from typing import Any, Literal, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.texts import TEXT_TASKS
from recherche.texts.base import AbstractTextTask

LORA_ABOVE = 300_000_000
"""Number of parameters from which on `auto` trains adapters and not the model: their optimiser is small."""
LORA_RANK = 16
FULL_RATE, LORA_RATE = 5e-4, 5e-4
"""Learning rates unless one is given."""


@final
class Teaching(BaseModel):
    """A teaching without its folders and its machine.

    Attributes:
        tasks: names of the tasks that are taught.
        sizes: their n: each a pair, from and to, drawn uniformly after the pair was.
        search_share: share of the tasks' texts that is answered with searches; the others are answered at once.
        prose_share: share of the lessons that is prose.
        prose: a text file of the user's; None: the prose that ships with the package.
        prose_tokens: tokens of a lesson of prose.
        held_out_tasks: names of tasks that are measured and never taught.
        held_out_sizes: values of n that are measured beside the largest one that is taught.
        num_evaluated: texts of each measured kind.
        evaluate_every: steps between two evaluations; 0: a quarter of all.
        steps: of the optimiser.
        batch_size: lessons of one pass.
        accumulation: passes of one step.
        rate: the highest learning rate; None: `FULL_RATE` or `LORA_RATE`.
        lora: rank of the adapters, `none` for training all weights, `auto` for the choice by `LORA_ABOVE`.
        precision: number type of the passes; weights that are trained are float32.
        seed: of everything.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tasks: tuple[str, ...] = Field(min_length=1)
    sizes: tuple[tuple[int, int], ...] = Field(default=((10, 30),), min_length=1)
    search_share: float = Field(default=0.5, ge=0, le=1)
    prose_share: float = Field(default=0.2, ge=0, lt=1)
    prose: str | None = None
    prose_tokens: int = Field(default=256, ge=2)
    held_out_tasks: tuple[str, ...] = ()
    held_out_sizes: tuple[int, ...] = ()
    num_evaluated: int = Field(default=32, ge=1)
    evaluate_every: int = Field(default=0, ge=0)
    steps: int = Field(default=2000, ge=1)
    batch_size: int = Field(default=16, ge=1)
    accumulation: int = Field(default=1, ge=1)
    rate: float | None = Field(default=None, gt=0)
    lora: Literal["auto", "none"] | int = "auto"
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _hold_together(self) -> "Teaching":
        if both := set(self.tasks) & set(self.held_out_tasks):
            raise ValueError(f"{', '.join(sorted(both))} cannot be both taught and held out")
        if wrong := [pair for pair in self.sizes if pair[0] > pair[1]]:
            raise ValueError(f"a range of n goes upwards, got {wrong[0][0]}-{wrong[0][1]}")
        if taught := [n for n in self.held_out_sizes if any(low <= n <= high for low, high in self.sizes)]:
            raise ValueError(f"n = {taught[0]} cannot be both taught and held out")
        if isinstance(self.lora, int) and self.lora < 1:
            raise ValueError(f"a rank is at least 1, got {self.lora}; use none to train all weights")
        return self

    @classmethod
    def of(cls, **values: Any) -> "Teaching":
        """A teaching from plain values.

        Raises:
            ConfigError: a value is wrong, or there is no such task or size of it.
        """
        try:
            teaching = cls(**values)
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(map(str, problem["loc"]))
            message = problem["msg"].removeprefix("Value error, ")
            raise ConfigError(f"A teaching cannot be so: {place + ': ' if place else ''}{message}.") from error
        for task in teaching.tasks:
            for n in (n for pair in teaching.sizes for n in pair):
                text_task(task, n)
        for task in (*teaching.tasks, *teaching.held_out_tasks):
            for n in teaching.measured_sizes:
                text_task(task, n)
        return teaching

    @property
    def largest(self) -> int:
        """The largest n that is taught."""
        return max(high for _, high in self.sizes)

    @property
    def measured_sizes(self) -> tuple[int, ...]:
        """Every n at which all tasks are measured."""
        return (self.largest, *self.held_out_sizes)

    @property
    def protocols(self) -> tuple[str, ...]:
        """Those that are taught."""
        shares = {"direct": 1 - self.search_share, "search": self.search_share}
        return tuple(name for name, share in shares.items() if share > 0)

    @property
    def pause(self) -> int:
        """Steps between two evaluations."""
        return self.evaluate_every or max(1, -(-self.steps // 4))

    def lora_rank(self, num_parameters: int) -> int | None:
        """Rank of the adapters for a model of that size; None: all of its weights are trained."""
        if isinstance(self.lora, int):
            return self.lora
        return LORA_RANK if self.lora == "auto" and num_parameters >= LORA_ABOVE else None


def text_task(name: str, n: int) -> AbstractTextTask:
    """The task of that name and size.

    Raises:
        ConfigError: there is none.
    """
    return lookup(TEXT_TASKS, name, what="text task").configured(n=n)
