"""Optimisers as values: which rule moves which weights, and how fast.

Reference: Wen, Dang & Lyu (2024), Appendix B (Adam), https://arxiv.org/abs/2402.18510;
    Jordan et al. (2024), Muon, https://kellerjordan.github.io/posts/muon/
"""

from typing import Annotated, Literal, final

import torch
from pydantic import BaseModel, ConfigDict, Field

from recherche.models.language_model import LanguageModel
from recherche.training.muon import Matrix, Muon
from recherche.training.state_passing import StatePassing


@final
class Adam(BaseModel):
    """Adam (with decoupled weight decay, 0 by default) on every weight: the paper's choice.

    Attributes:
        lr: the paper has 1e-3 for the Transformer and 3e-4 for Mamba and the hybrid.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["adam"] = "adam"
    lr: float = Field(gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = Field(default=0.0, ge=0)

    def build(self, model: LanguageModel | StatePassing) -> tuple[torch.optim.Optimizer, ...]:
        """The torch optimisers that together move all weights of `model`."""
        weights = [weight for weight in model.parameters() if weight.requires_grad]
        return (_adamw(weights, lr=self.lr, betas=self.betas, weight_decay=self.weight_decay),)


@final
class MuonAdamW(BaseModel):
    """Muon on the hidden matrices, AdamW on the rest (head, norms, convolutions, time steps)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["muon-adamw"] = "muon-adamw"
    muon_lr: float = Field(default=0.02, gt=0)
    momentum: float = Field(default=0.95, ge=0, lt=1)
    adam_lr: float = Field(default=2e-3, gt=0)
    betas: tuple[float, float] = (0.9, 0.98)

    def build(self, model: LanguageModel | StatePassing) -> tuple[torch.optim.Optimizer, ...]:
        """The torch optimisers that together move all weights of `model`."""
        matrices = [Matrix(weight, blocks) for weight, blocks in model.hidden_matrices()]
        hidden = {id(matrix.weight) for matrix in matrices}
        rest = [weight for weight in model.parameters() if weight.requires_grad and id(weight) not in hidden]
        return (
            Muon(matrices, lr=self.muon_lr, momentum=self.momentum),
            _adamw(rest, lr=self.adam_lr, betas=self.betas, weight_decay=0.0),
        )


def _adamw(
    weights: list[torch.nn.Parameter], *, lr: float, betas: tuple[float, float], weight_decay: float
) -> torch.optim.AdamW:
    return torch.optim.AdamW(weights, lr=lr, betas=betas, weight_decay=weight_decay, fused=True)


Optimizer = Annotated[Adam | MuonAdamW, Field(discriminator="kind")]
