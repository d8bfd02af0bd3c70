"""How each preset departs from the paper's recipe; stated beside every figure.

Reference: Wen, Dang & Lyu (2024), Appendix B, https://arxiv.org/abs/2402.18510
"""

from types import MappingProxyType
from typing import NamedTuple, final


@final
class Deviation(NamedTuple):
    """One departure: what differs, here and in the paper."""

    subject: str
    ours: str
    paper: str


_SEARCHES = Deviation(
    "Searches", "executed while the model generates, on its own context", "results written by the data generator"
)
_TRACE = Deviation("Retrieval trace", "no parent query at a first visit: the record was just written", "Algorithm 2")
_SMALL_RECIPE = (
    Deviation("Model", "2 to 4 layers, d_model 64, SwiGLU 2x, QK-norm", "8 to 16 layers at 0.5M, SwiGLU 4x"),
    Deviation("State", "d_state 4 in Mamba and in the hybrid", "d_state 16"),
    Deviation(
        "Embedding", "frozen, random orthogonal, with an untied learned head", "frozen sinusoidal, tied to the head"
    ),
    Deviation("Optimiser", "Muon and AdamW", "Adam with a cosine schedule"),
    Deviation("Learning rate", "the same for all three, tuned on the Transformer", "1e-3 Transformer, 3e-4 the others"),
    Deviation("Curriculum", "self-paced, from small n to the cell's; n' < n vertices are named 1..n'", "none"),
    Deviation("Batch", "16 to 64, by protocol", "64"),
    Deviation("Training", "the same number of samples in all cells of a protocol and n", "1M samples, 5M where needed"),
    _SEARCHES,
    _TRACE,
)
_OF_PRESET = MappingProxyType(
    {
        "smoke": _SMALL_RECIPE,
        "quick": _SMALL_RECIPE,
        "laptop": _SMALL_RECIPE,
        "paper-16": (_SEARCHES, _TRACE),
        "paper": (_SEARCHES, _TRACE),
    }
)


_EQUAL_TRAINING = "all cells of one protocol and n train on the same number of samples"
_PAPER_TRAINING = "a cell that stays below 0.97 after 1M samples is trained again with 5M, as in the paper"


def training_of(preset: str) -> str:
    """How much the cells of a preset are trained, in a clause that follows a colon."""
    return _PAPER_TRAINING if preset.startswith("paper") else _EQUAL_TRAINING


def deviations_of(preset: str) -> tuple[Deviation, ...]:
    """What the preset does differently from the paper; nothing is known of a preset without a name."""
    return _OF_PRESET.get(preset, ())
