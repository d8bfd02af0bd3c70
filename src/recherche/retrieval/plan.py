"""What an index must find for a query: runs of tokens of fixed length, where they may stand, what must follow.

    piece    a run of `length` tokens, some of them given; some of them returned as groups
    plan     one of several pieces of equal or different length, at an anchor; possibly after an earlier piece
    tally    the k-th occurrence of a token, counted from the start

A plan says the same as its pattern, so both give the same answer. A piece never contains a hidden span.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from recherche.queries import AR, CGram, Count, FirstEdge, Index, LastWrite, NextEdge, Parent, Query


class Anchor(Enum):
    """Where a piece may stand, and which of several places counts."""

    FIRST = "the earliest place"
    INNER = "the earliest place that is not the very start"
    START = "the very start only"
    LAST = "the latest place"


class Tail(Enum):
    """What must come after a piece."""

    OPEN = "anything or nothing"
    MORE = "at least one more token, hidden or not"
    END = "nothing"


class Piece(NamedTuple):
    """A run of tokens.

    Attributes:
        length: number of tokens in the run.
        given: (offset in the run, token) for the tokens that are prescribed, by ascending offset.
        groups: (group number, offset in the run) for the tokens that are captured, by ascending group.
    """

    length: int
    given: tuple[tuple[int, str], ...]
    groups: tuple[tuple[int, int], ...]


class Plan(NamedTuple):
    """Alternatives (earlier ones win at the same place), an anchor, a tail, and what must stand before."""

    pieces: tuple[Piece, ...]
    anchor: Anchor = Anchor.FIRST
    tail: Tail = Tail.OPEN
    before: tuple[Piece, ...] = ()


class Tally(NamedTuple):
    """Occurrence number `threshold` (from 0) of a token, followed by two more tokens, no hidden span before it."""

    value: str
    threshold: int


def plan_of(query: Query) -> Plan | Tally:
    """The plan that says the same as the template of `query`."""
    return _PLANS[type(query)](query)


def _index(query: Index) -> Plan:
    return Plan((Piece(query.position + 1, (), ((1, query.position - 1),)),), Anchor.START)


def _associative_recall(query: AR) -> Plan:
    return Plan((Piece(3, ((0, query.key),), ((1, 1),)),), Anchor.FIRST if query.select == "first" else Anchor.LAST)


def _c_gram(query: CGram) -> Plan:
    size = len(query.prefix)
    return Plan((Piece(2 * size + 1, tuple(enumerate(query.prefix)), ((1, size),)),))


def _count(query: Count) -> Tally:
    return Tally(query.value, query.threshold)


def _parent(query: Parent) -> Plan:
    return Plan((Piece(3, ((1, "-"), (2, query.child)), ((1, 0),)),))


def _first_edge(query: FirstEdge) -> Plan:
    return Plan(_edges_at(query.vertex))


def _next_edge(query: NextEdge) -> Plan:
    used = (_edge(query.after, query.vertex), _edge(query.vertex, query.after))
    return Plan(_edges_at(query.vertex), before=used)


def _last_write(query: LastWrite) -> Plan:
    return Plan((Piece(4, ((0, query.pointer), (1, "="), (3, ";")), ((1, 2),)),), Anchor.LAST)


def _edge(u: str, v: str) -> Piece:
    return Piece(3, ((0, u), (1, "~"), (2, v)), ())


def _edges_at(vertex: str) -> tuple[Piece, Piece]:
    return (
        Piece(3, ((1, "~"), (2, vertex)), ((1, 0),)),
        Piece(3, ((0, vertex), (1, "~")), ((2, 2),)),
    )


_PLANS: Mapping[type, Callable[[Any], Plan | Tally]] = MappingProxyType(
    {
        Index: _index,
        AR: _associative_recall,
        CGram: _c_gram,
        Count: _count,
        Parent: _parent,
        FirstEdge: _first_edge,
        NextEdge: _next_edge,
        LastWrite: _last_write,
    }
)
