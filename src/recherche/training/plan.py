"""A training plan: how many steps, of what, by which rule.

Reference: Wen, Dang & Lyu (2024), Appendix B, https://arxiv.org/abs/2402.18510
"""

from typing import final

from pydantic import BaseModel, ConfigDict, Field

from recherche.training.curriculum import Curriculum, Fixed
from recherche.training.optimizers import Optimizer
from recherche.training.schedules import Schedule


@final
class TrainingPlan(BaseModel):
    """Everything about a training run but the task, the model and the seed.

    Attributes:
        num_steps: optimiser steps; with `batch_size` this is the number of samples.
        clip_norm: largest norm of the whole gradient.
        log_every: steps between two rows of metrics.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    num_steps: int = Field(ge=1)
    batch_size: int = Field(ge=1)
    optimizer: Optimizer
    schedule: Schedule
    curriculum: Curriculum = Fixed()
    clip_norm: float = Field(default=1.0, gt=0)
    log_every: int = Field(default=25, ge=1)
