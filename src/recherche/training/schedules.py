"""How the learning rate moves over a run: a factor in [0, 1] for each step.

Reference: Wen, Dang & Lyu (2024), Appendix B (cosine), https://arxiv.org/abs/2402.18510
"""

import math
from typing import Annotated, Literal, final

from pydantic import BaseModel, ConfigDict, Field


@final
class WarmupStableDecay(BaseModel):
    """Linear warm-up, a plateau at 1, then a straight line to 0 over the last `decay_fraction` of the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["warmup-stable-decay"] = "warmup-stable-decay"
    warmup_steps: int = Field(default=50, ge=0)
    decay_fraction: float = Field(default=0.4, ge=0.0, le=1.0)

    def factor(self, step: int, num_steps: int) -> float:
        """The factor for step `step` of 0..num_steps - 1.

        >>> [WarmupStableDecay(warmup_steps=2, decay_fraction=0.5).factor(i, 8) for i in (0, 1, 3, 4, 6)]
        [0.5, 1.0, 1.0, 1.0, 0.5]
        """
        warm = min(1.0, (step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        decay_steps = self.decay_fraction * num_steps
        left = (num_steps - step) / decay_steps if decay_steps else 1.0
        return min(warm, left, 1.0)


@final
class Cosine(BaseModel):
    """Linear warm-up, then half a cosine down to 0: the paper's schedule."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["cosine"] = "cosine"
    warmup_steps: int = Field(default=0, ge=0)

    def factor(self, step: int, num_steps: int) -> float:
        """The factor for step `step` of 0..num_steps - 1.

        >>> [round(Cosine().factor(i, 4), 3) for i in range(4)]
        [1.0, 0.854, 0.5, 0.146]
        """
        if step < self.warmup_steps:
            return (step + 1) / self.warmup_steps
        progress = (step - self.warmup_steps) / max(1, num_steps - self.warmup_steps)
        return 0.5 * (1.0 + math.cos(math.pi * progress))


Schedule = Annotated[WarmupStableDecay | Cosine, Field(discriminator="kind")]
