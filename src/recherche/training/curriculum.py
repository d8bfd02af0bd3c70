"""Which size of problem comes next: always the final one, one of several, or one more when the last is understood.

A self-paced curriculum holds a level n. It smooths the training loss and, when the smooth loss falls below a
threshold, goes to n + 1; a share of the batches revisits the sizes just below, so that nothing is forgotten.
On IsTree this decides whether n = 16 is learned in minutes or not at all.
"""

from typing import Annotated, Literal, final

import numpy as np
from pydantic import BaseModel, ConfigDict, Field


@final
class Fixed(BaseModel):
    """Every batch has the task's own size: the paper's way."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["fixed"] = "fixed"

    def start(self, n: int) -> "Level":
        """The state before the first step of a run whose task has size n."""
        return Level(n=n)

    def next_size(self, level: "Level", generator: np.random.Generator) -> int:
        """The size of the next batch."""
        return level.n

    def advance(self, level: "Level", loss: float, *, final_n: int) -> "Level":
        """The state after a step with training loss `loss`, in nats per scored token."""
        return level


@final
class Mixed(BaseModel):
    """Every batch has one of several sizes, each as often as the others, from the start.

    Attributes:
        sizes: the sizes; the task's own is one of them.

    >>> level = Mixed(sizes=(8, 16)).start(16)
    >>> sorted({Mixed(sizes=(8, 16)).next_size(level, np.random.default_rng(seed)) for seed in range(9)})
    [8, 16]
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["mixed"] = "mixed"
    sizes: tuple[int, ...] = Field(min_length=1)

    def start(self, n: int) -> "Level":
        """The state before the first step of a run whose task has size n."""
        return Level(n=n)

    def next_size(self, level: "Level", generator: np.random.Generator) -> int:
        """The size of the next batch."""
        return self.sizes[int(generator.integers(len(self.sizes)))]

    def advance(self, level: "Level", loss: float, *, final_n: int) -> "Level":
        """The state after a step with training loss `loss`, in nats per scored token."""
        return level


@final
class SelfPaced(BaseModel):
    """One size more whenever the smooth loss is below a threshold.

    Attributes:
        start_n: first size.
        threshold: smooth loss, in nats per scored token, below which the size grows.
        smoothing: weight of the past in the smooth loss.
        relief: factor on the smooth loss after growing, so that the next size has to earn its own promotion.
        review: share of batches drawn from the `review_depth` sizes below the level.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["self-paced"] = "self-paced"
    start_n: int = Field(ge=1)
    threshold: float = Field(gt=0)
    smoothing: float = Field(default=0.93, ge=0, lt=1)
    relief: float = Field(default=1.5, ge=1)
    review: float = Field(default=0.2, ge=0, le=1)
    review_depth: int = Field(default=3, ge=1)

    def start(self, n: int) -> "Level":
        """The state before the first step of a run whose task has size n."""
        return Level(n=min(self.start_n, n))

    def next_size(self, level: "Level", generator: np.random.Generator) -> int:
        """The size of the next batch."""
        if generator.random() >= self.review:
            return level.n
        return max(min(self.start_n, level.n), level.n - int(generator.integers(1, self.review_depth + 1)))

    def advance(self, level: "Level", loss: float, *, final_n: int) -> "Level":
        """The state after a step with training loss `loss`, in nats per scored token."""
        old = level.smooth_loss
        smooth = loss if old is None else self.smoothing * old + (1 - self.smoothing) * loss
        if smooth < self.threshold and level.n < final_n:
            return Level(n=level.n + 1, smooth_loss=smooth * self.relief)
        return Level(n=level.n, smooth_loss=smooth)


@final
class Level(BaseModel):
    """Where a curriculum stands; saved in checkpoints.

    Attributes:
        n: the size that is being learned.
        smooth_loss: smoothed training loss in nats per scored token; None before the first step.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    n: int
    smooth_loss: float | None = None


Curriculum = Annotated[Fixed | Mixed | SelfPaced, Field(discriminator="kind")]
