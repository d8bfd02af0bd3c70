"""Which mixer each layer has, and so where an operation can go: Transformer, linear RNN, hybrid.

Layer l has two stages: 2l - 1, its mixer, and 2l, its feed-forward, which sees what the mixer has added. Stage 0 is the
embedding. An operation that reads registers of stage at most r goes to the first stage after r that can hold it.

Reference: Lindner et al. (2023), Tracr: compiled Transformers, https://arxiv.org/abs/2301.05062
"""

from dataclasses import dataclass
from typing import Literal, final

from recherche.errors import CertificateError

MixerKind = Literal["attention", "linear"]
OperationKind = Literal["attention", "linear", "feed-forward"]


@final
@dataclass(frozen=True, slots=True)
class Transformer:
    """Attention in every layer."""

    def mixer(self, layer: int) -> MixerKind:
        """The mixer of a layer, layers counted from 1."""
        return "attention"

    @property
    def n_layers(self) -> int | None:
        """Number of layers; None: as many as the program needs."""
        return None


@final
@dataclass(frozen=True, slots=True)
class LinearRNN:
    """A linear unit in every layer."""

    def mixer(self, layer: int) -> MixerKind:
        """The mixer of a layer, layers counted from 1."""
        return "linear"

    @property
    def n_layers(self) -> int | None:
        """Number of layers; None: as many as the program needs."""
        return None


@final
@dataclass(frozen=True, slots=True)
class Hybrid:
    """`recurrent` layers with a linear unit, then exactly one with attention (Definition 5.5)."""

    recurrent: int

    def mixer(self, layer: int) -> MixerKind:
        """The mixer of a layer, layers counted from 1."""
        return "linear" if layer <= self.recurrent else "attention"

    @property
    def n_layers(self) -> int | None:
        """Number of layers."""
        return self.recurrent + 1


Layout = Transformer | LinearRNN | Hybrid


def stage_for(layout: Layout, kind: OperationKind, *, ready: int, what: str) -> int:
    """The first stage after `ready` that can hold an operation of this kind.

    Args:
        what: the operation, for the message.

    Raises:
        CertificateError: the layout has no such stage.
    """
    first = ready // 2 + 1 if kind == "feed-forward" else (ready + 1) // 2 + 1
    for layer in range(first, (layout.n_layers or first) + 1):
        if kind == "feed-forward":
            return 2 * layer
        if layout.mixer(layer) == kind:
            return 2 * layer - 1
    raise CertificateError(
        f"{what} needs {kind} after stage {ready}, but {layout} has none there; "
        "compute it earlier, or give the layout more layers."
    )
