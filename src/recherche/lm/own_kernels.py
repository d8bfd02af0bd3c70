"""Train a Mamba of transformers by our compiled loops: the same function, the same weights, another speed.

The library's own loop over time, where its CUDA kernels cannot be had, is differentiated slice by slice: a step of a
small Mamba took 106 s with it on one core, and 0.6 s here.
"""

from typing import Any, NamedTuple, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from recherche.errors import ConfigError
from recherche.models.pretrained import from_transformers
from recherche.models.to_transformers import transformers_weights

FAMILIES = ("mamba", "mamba2")
"""Families that are trained here; attention is as fast in the library."""


class Reading(NamedTuple):
    """What a forward pass returns, by the library's name."""

    logits: Float[Tensor, "b t v"]


@final
class OwnKernels(nn.Module):
    """A copy of a model of transformers that can be trained in its place."""

    def __init__(self, original: Any) -> None:
        """Copy the weights.

        Raises:
            ConfigError: the model has parts that ours has not.
        """
        super().__init__()
        self.model = from_transformers(original)

    def forward(self, input_ids: Int[Tensor, "b t"], *, use_cache: bool = False) -> Reading:
        """Logits after each token; there is never a cache."""
        return Reading(self.model(input_ids))

    @torch.no_grad()
    def write_back(self, original: Any) -> None:
        """Give the original the weights that the copy has now."""
        original.load_state_dict(transformers_weights(self.model))


def own_kernels(model: Any) -> OwnKernels | None:
    """The copy to train a model by, or None where it is trained as it is: other families, other devices."""
    if model.config.model_type not in FAMILIES or model.device.type != "cpu" or model.dtype != torch.float32:
        return None
    try:
        return OwnKernels(model)
    except ConfigError:
        return None
