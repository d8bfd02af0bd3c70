"""A plan in the ids of one lexicon: what a token index can be asked for, worked out once for many searches.

A run knows by which keys it can be looked up, a key being a pair of its given tokens at distance 1 or 2, or one token
alone where no two are near, and for each key which given tokens are then still to be compared.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from recherche.retrieval.index import pair_key
from recherche.retrieval.plan import Anchor, Piece, Plan, Tail, Tally

_MOST_KEYS = 4


class Key(NamedTuple):
    """A way to look a run up.

    Attributes:
        offset: where the key's first token stands in the run.
        distance: from there to its second token; 0 for one token alone.
        number: what the index calls it.
        unsure: (offset, id) of the given tokens that the key does not cover.
    """

    offset: int
    distance: int
    number: int
    unsure: tuple[tuple[int, int], ...]


class Run(NamedTuple):
    """A piece whose given tokens are ids; no keys if none is given."""

    given: tuple[tuple[int, int], ...]
    length: int
    groups: tuple[tuple[int, int], ...]
    tail: Tail
    keys: tuple[Key, ...]


class BoundPlan(NamedTuple):
    """A plan whose pieces are runs; pieces that ask for a token that occurs nowhere are left out."""

    runs: tuple[Run, ...]
    anchor: Anchor
    before: tuple[Run, ...] | None


class BoundTally(NamedTuple):
    """A tally of an id, None for a token that occurs nowhere."""

    token: int | None
    threshold: int


def bind(plan: Plan | Tally, ids: Mapping[str, int]) -> BoundPlan | BoundTally:
    """The plan in token ids.

    Args:
        ids: token -> id; a token that is not in it occurs nowhere.
    """
    if isinstance(plan, Tally):
        return BoundTally(ids.get(plan.value), plan.threshold)
    before = _runs(plan.before, Tail.OPEN, ids) if plan.before else None
    return BoundPlan(_runs(plan.pieces, plan.tail, ids), plan.anchor, before)


def _runs(pieces: tuple[Piece, ...], tail: Tail, ids: Mapping[str, int]) -> tuple[Run, ...]:
    runs = []
    for length, given, groups in pieces:
        known = tuple((offset, ids[token]) for offset, token in given if token in ids)
        if len(known) == len(given):
            runs.append(Run(known, length, groups, tail, _keys(known)))
    return tuple(runs)


def _keys(given: tuple[tuple[int, int], ...]) -> tuple[Key, ...]:
    if len(given) == 3 and given[2][0] - given[0][0] == 2:
        # Of `a ~ v` the outer pair is rarer than either pair with the sign.
        pairs = [(given[0], given[2])]
    else:
        pairs = [(one, other) for one, other in pairwise(given) if other[0] - one[0] <= 2]
    if not pairs:
        return tuple(_key(one, one, given) for one in given[:_MOST_KEYS])
    return tuple(_key(one, other, given) for one, other in pairs[:_MOST_KEYS])


def _key(one: tuple[int, int], other: tuple[int, int], given: tuple[tuple[int, int], ...]) -> Key:
    number = one[1] if one == other else pair_key(one[1], other[1])
    return Key(one[0], other[0] - one[0], number, tuple(token for token in given if token not in (one, other)))
