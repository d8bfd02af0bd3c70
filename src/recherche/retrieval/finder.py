"""Find a plan's piece in a token index without scanning the tokens.

Of the pairs of given tokens at distance 0, 1 or 2 the rarest one is looked up; its places are tried in order. If the
first few do not fit, the rest are tried at once, as arrays: an answer costs at worst one pass in compiled code.
"""

from bisect import bisect_left
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from recherche.retrieval.index import TokenIndex
from recherche.retrieval.plan import Anchor, Piece, Plan, Tail, Tally

_TRIED_ONE_BY_ONE = 32
_KEYS_COMPARED = 4

Groups = dict[int, tuple[int, int]]
"""Group number -> its half-open span of places, for the groups that took part."""


class _Run(NamedTuple):
    """A piece in token ids: (offset, id) of the given tokens, groups, length, tail."""

    given: list[tuple[int, int]]
    piece: Piece
    tail: Tail


def find(plan: Plan | Tally, index: TokenIndex, ids: dict[str, int]) -> Groups | None:
    """The groups of the match that the plan's pattern has in the text of `index`, or None.

    Args:
        ids: token -> id; a token that is not in it occurs nowhere.
    """
    if isinstance(plan, Tally):
        return _find_tally(plan, index, ids)
    groups: Groups = {}
    low = 0
    if plan.before:
        runs = [run for piece in plan.before if (run := _run(piece, Tail.OPEN, ids))]
        earlier = _first(runs, index, plan.anchor, 0)
        if earlier is None:
            return None
        place, run = earlier
        groups.update(_groups(run.piece, place))
        low = place + run.piece.length
    runs = [run for piece in plan.pieces if (run := _run(piece, plan.tail, ids))]
    if plan.anchor is Anchor.LAST:
        found = _last(runs, index)
    else:
        found = _first(runs, index, Anchor.FIRST if plan.before else plan.anchor, low)
    if found is None:
        return None
    place, run = found
    groups.update(_groups(run.piece, place))
    return groups


def _groups(piece: Piece, place: int) -> Groups:
    return {number: (place + offset, place + offset + 1) for number, offset in piece.groups}


def _run(piece: Piece, tail: Tail, ids: dict[str, int]) -> _Run | None:
    try:
        return _Run([(offset, ids[token]) for offset, token in piece.given], piece, tail)
    except KeyError:
        return None


def _first(runs: list[_Run], index: TokenIndex, anchor: Anchor, low: int) -> tuple[int, _Run] | None:
    """The earliest place of any run at or after `low`; at the same place the run listed first."""
    best: tuple[int, _Run] | None = None
    for run in runs:
        if anchor is Anchor.START:
            place = 0 if _fits(run, index, 0) else None
        else:
            place = _search(run, index, max(low, 1) if anchor is Anchor.INNER else low, step=1)
        if place is not None and (best is None or place < best[0]):
            best = place, run
    return best


def _last(runs: list[_Run], index: TokenIndex) -> tuple[int, _Run] | None:
    best: tuple[int, _Run] | None = None
    for run in runs:
        place = _search(run, index, 0, step=-1)
        if place is not None and (best is None or place > best[0]):
            best = place, run
    return best


def _fits(run: _Run, index: TokenIndex, place: int) -> bool:
    end = place + run.piece.length
    if place < 0 or end > len(index):
        return False
    if run.tail is not Tail.OPEN and (end == len(index)) is not (run.tail is Tail.END):
        return False
    return all(index.token(place + offset) == token for offset, token in run.given) and index.is_clear(place, end)


def _search(run: _Run, index: TokenIndex, low: int, *, step: int) -> int | None:
    """The earliest (step 1) or latest (step -1) place of `run` at or after `low`."""
    if run.tail is Tail.END:
        place = len(index) - run.piece.length
        return place if place >= low and _fits(run, index, place) else None
    if not run.given:
        return _search_clear(run, index, low, step=step)
    offset, places = _rarest(run, index)
    bound = low + offset
    tried = 0
    for number, some in enumerate(places := places[::step]):
        begin = bisect_left(some, bound)
        rest = some[begin:] if begin else some
        ordered = rest[::step][: _TRIED_ONE_BY_ONE + 1 - tried]
        for place in ordered if isinstance(ordered, list) else ordered.tolist():
            if tried == _TRIED_ONE_BY_ONE:
                return _search_at_once(run, index, [rest, *places[number + 1 :]], offset, step=step, low=low)
            if _fits(run, index, place - offset):
                return int(place - offset)
            tried += 1
    return None


def _search_clear(run: _Run, index: TokenIndex, low: int, *, step: int) -> int | None:
    """A run without given tokens: wherever no hidden span stands in the way."""
    length = run.piece.length
    room = len(index) - length - (run.tail is Tail.MORE)
    if step > 0:
        place = low
        for hidden in index.hidden[bisect_left(index.hidden, low) :]:
            if hidden >= place + length:
                break
            place = hidden + 1
        return place if place <= room else None
    place = room
    for hidden in reversed(index.hidden[: bisect_left(index.hidden, room + length)] if room >= 0 else []):
        if hidden < place:
            break
        place = hidden - length
    return place if place >= low else None


def _rarest(run: _Run, index: TokenIndex) -> tuple[int, list[list[int] | np.ndarray]]:
    """(offset of the key in the run, its places), over the near pairs of given tokens or else the tokens alone."""
    pairs = [(o, b - o, t, u) for (o, t), (b, u) in pairwise(run.given) if b - o <= 2]
    keys = pairs or [(offset, 0, token, token) for offset, token in run.given]
    if len(keys) == 1:
        offset, distance, first, second = keys[0]
        return offset, index.positions(distance, first, second)
    keys = keys[:_KEYS_COMPARED]
    if len(run.given) == 3 and run.given[2][0] - run.given[0][0] == 2:
        # `a ~ v`: the outer pair is rarer than either pair with the sign.
        keys = [(run.given[0][0], 2, run.given[0][1], run.given[2][1])]
    best: tuple[int, list] | None = None
    fewest = 0
    for offset, distance, first, second in keys:
        places = index.positions(distance, first, second)
        count = sum(map(len, places))
        if best is None or count < fewest:
            best, fewest = (offset, places), count
    assert best is not None
    return best


def _search_at_once(run: _Run, index: TokenIndex, places: list, offset: int, *, step: int, low: int) -> int | None:
    """The same as trying place after place, over arrays."""
    candidates = np.concatenate([np.asarray(some, np.int64) for some in places]) - offset
    end = candidates + run.piece.length
    room = len(index) - (run.tail is Tail.MORE)
    candidates = candidates[(candidates >= low) & (end <= room)]
    tokens = index.flat()
    for at, token in run.given:
        candidates = candidates[tokens[candidates + at] == token]
    candidates = candidates[_clear(index, candidates, run.piece.length)]
    if not len(candidates):
        return None
    return int(candidates.min() if step > 0 else candidates.max())


def _clear(index: TokenIndex, begins: Int[np.ndarray, " k"], length: int) -> Bool[np.ndarray, " k"]:
    hidden = np.array(index.hidden, np.int64)
    return hidden.searchsorted(begins) == hidden.searchsorted(begins + length)


def _find_tally(tally: Tally, index: TokenIndex, ids: dict[str, int]) -> Groups | None:
    token = ids.get(tally.value)
    if token is None:
        return None
    wanted = tally.threshold
    for some in index.positions(0, token, token):
        if wanted < len(some):
            place = int(some[wanted])
            return {1: (place, place + 1)} if place + 3 <= len(index) and index.is_clear(0, place + 3) else None
        wanted -= len(some)
    return None
