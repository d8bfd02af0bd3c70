"""How the models of a sweep are told apart: a colour for the family of a model, a sign for its member.

The family follows from the mixers of the layers: attention over tokens that are kept; a sum of outer products of keys
and values (linear attention); state-space models; the delta rule; recurrent networks with a vector for a state; and
models whose layers are not all alike.
"""

from collections.abc import Iterable
from types import MappingProxyType
from typing import NamedTuple, final

from recherche.report.appearance import ARCHITECTURE_COLOURS, OTHER_COLOURS
from recherche.report.sweep_results import SweepPoint

MIXED, OWN = "hybrids", "other mixers"
FAMILIES = MappingProxyType(
    {
        "attention": ("attention", "sliding-window", "tova"),
        "linear attention": ("linear-attention", "retention", "gla", "rwkv6", "mlstm"),
        "state space": ("mamba", "mamba2"),
        "delta rule": ("deltanet", "gated-deltanet"),
        "recurrent": ("linear-rnn", "dense-linear-rnn", "lstm", "gru"),
        MIXED: (),
        OWN: (),
    }
)
_COLOURS = MappingProxyType(
    {
        "attention": ARCHITECTURE_COLOURS["transformer"],
        "linear attention": OTHER_COLOURS[0],
        "state space": ARCHITECTURE_COLOURS["mamba"],
        "delta rule": OTHER_COLOURS[2],
        "recurrent": OTHER_COLOURS[1],
        MIXED: ARCHITECTURE_COLOURS["hybrid"],
        OWN: OTHER_COLOURS[0],
    }
)
_SIGNS = (("o", "●"), ("s", "■"), ("^", "▲"), ("D", "◆"), ("v", "▼"), ("P", "✚"), ("X", "✖"))
PANELS = (("attention", MIXED, OWN), ("linear attention",), ("state space", "delta rule", "recurrent"))
"""Families whose curves share a panel."""


@final
class Mark(NamedTuple):
    """How one model is drawn.

    Attributes:
        colour: that of its family.
        marker: matplotlib's letter for its sign.
        sign: the sign as a character, for a legend in text.
    """

    family: str
    colour: str
    marker: str
    sign: str


def family_of(layers: Iterable[str]) -> str:
    """The family of a model with such layers.

    >>> family_of(["gla", "gla"]), family_of(["mamba", "attention"]), family_of(["mine"])
    ('linear attention', 'hybrids', 'other mixers')
    """
    distinct = set(layers)
    if len(distinct) > 1:
        return MIXED
    return next((family for family, members in FAMILIES.items() if distinct & set(members)), OWN)


def marks_of_models(points: Iterable[SweepPoint]) -> dict[str, Mark]:
    """A mark for each model, in the order of the families and then of the grid."""
    families = {point.mixer: family_of(point.layers) for point in points}
    marks = {}
    for family in FAMILIES:
        members = [model for model, its in families.items() if its == family]
        for i, model in enumerate(members):
            marker, sign = _SIGNS[i % len(_SIGNS)]
            marks[model] = Mark(family, _COLOURS[family], marker, sign)
    return marks
