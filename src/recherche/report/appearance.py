"""Labels, order and colours: the one place that decides how an architecture or a protocol is shown.

The colours are those of Okabe and Ito, which people with any common kind of colour blindness can tell apart. Every
colour has a role name; an inline figure refers to the role, so that the page's style sheet can pick the shade for a
light or a dark background.

Reference: Okabe & Ito (2008), Color Universal Design, https://jfly.uni-koeln.de/color/
"""

from collections.abc import Iterable
from types import MappingProxyType

ARCHITECTURE_LABELS = MappingProxyType({"transformer": "Transformer", "mamba": "Mamba", "hybrid": "Hybrid"})
PROTOCOL_LABELS = MappingProxyType(
    {"direct": "Direct answer", "cot": "Chain of thought", "retrieval": "Chain of thought with retrieval"}
)
PROTOCOL_SHORT_LABELS = MappingProxyType({"direct": "Direct", "cot": "CoT", "retrieval": "CoT, retrieval"})

INK = "#22262b"
MUTED = "#6b7280"
RULE = "#d9dce1"
ARCHITECTURE_COLOURS = MappingProxyType({"transformer": "#0072b2", "mamba": "#d55e00", "hybrid": "#009e73"})
OTHER_COLOURS = ("#cc79a7", "#56b4e9", "#8a6d00")
ROLE_OF_COLOUR = MappingProxyType(
    {INK: "ink", MUTED: "muted", RULE: "rule"}
    | {colour: name for name, colour in ARCHITECTURE_COLOURS.items()}
    | {colour: f"other-{i}" for i, colour in enumerate(OTHER_COLOURS)}
)


def architecture_label(name: str) -> str:
    """The name of an architecture in prose; a user's own word stands for itself.

    >>> architecture_label("mamba"), architecture_label("gru")
    ('Mamba', 'gru')
    """
    return ARCHITECTURE_LABELS.get(name, name)


def protocol_label(name: str) -> str:
    """The name of a protocol in prose.

    >>> protocol_label("cot")
    'Chain of thought'
    """
    return PROTOCOL_LABELS.get(name, name)


def protocol_short_label(name: str) -> str:
    """The name of a protocol where there is little room.

    >>> protocol_short_label("cot")
    'CoT'
    """
    return PROTOCOL_SHORT_LABELS.get(name, name)


def colours_of(architectures: Iterable[str]) -> dict[str, str]:
    """A colour for each architecture: its own, or the next free one for a name that has none."""
    free = iter(OTHER_COLOURS * 8)
    return {name: ARCHITECTURE_COLOURS.get(name) or next(free) for name in architectures}


def in_order(names: Iterable[str], labels: Iterable[str]) -> tuple[str, ...]:
    """The distinct `names`, those of `labels` first and in its order, the rest as they come.

    >>> in_order(["gru", "mamba", "transformer", "gru"], ARCHITECTURE_LABELS)
    ('transformer', 'mamba', 'gru')
    """
    distinct = list(dict.fromkeys(names))
    known = list(labels)
    return (*(name for name in known if name in distinct), *(name for name in distinct if name not in known))
