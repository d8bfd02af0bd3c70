"""Find a plan's piece in a token index without scanning the tokens.

Of the pairs of given tokens at distance 0, 1 or 2 the rarest one is looked up; its places are tried in order. If the
first few do not fit, the rest are tried at once, as arrays: an answer costs at worst one pass in compiled code.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int

from recherche.retrieval.bind import BoundPlan, BoundTally, Key, Run
from recherche.retrieval.index import TokenIndex
from recherche.retrieval.plan import Anchor, Tail

_FIRST, _INNER, _START, _LAST = Anchor
_OPEN, _MORE, _END = Tail
_TRIED_ONE_BY_ONE = 32

Groups = dict[int, tuple[int, int]]
"""Group number -> its half-open span of places, for the groups that took part."""


def find(plan: BoundPlan | BoundTally, index: TokenIndex) -> Groups | None:
    """The groups of the match that the plan's pattern has in the text of `index`, or None."""
    if isinstance(plan, BoundTally):
        return _find_tally(plan, index)
    runs, anchor, before = plan
    if before is None:
        found = _choose(runs, index, anchor, 0)
        return None if found is None else _groups(*found)
    earlier = _choose(before, index, anchor, 0)
    if earlier is None:
        return None
    place, run = earlier
    found = _choose(runs, index, _FIRST, place + run.length)
    return None if found is None else _groups(*earlier) | _groups(*found)


def _groups(place: int, run: Run) -> Groups:
    return {number: (place + offset, place + offset + 1) for number, offset in run.groups}


def _choose(runs: tuple[Run, ...], index: TokenIndex, anchor: Anchor, low: int) -> tuple[int, Run] | None:
    """The place of the run that the anchor prefers, at or after `low`; at the same place the run listed first."""
    best: tuple[int, Run] | None = None
    for run in runs:
        if anchor is _START:
            place = 0 if _fits(run, index, 0, run.given) else None
        else:
            place = _search(run, index, 1 if anchor is _INNER and not low else low, step=-1 if anchor is _LAST else 1)
        if place is not None and (best is None or (place > best[0] if anchor is _LAST else place < best[0])):
            best = place, run
    return best


def _fits(run: Run, index: TokenIndex, place: int, unsure: Sequence[tuple[int, int]]) -> bool:
    """Whether the run can stand at a place where all but the `unsure` tokens are known to be the given ones."""
    end = place + run.length
    size = len(index)
    if place < 0 or end > size or (run.tail is not _OPEN and (end == size) is not (run.tail is _END)):
        return False
    for offset, token in unsure:
        if index.token(place + offset) != token:
            return False
    return not index.hidden or index.is_clear(place, end)


def _search(run: Run, index: TokenIndex, low: int, *, step: int) -> int | None:
    """The earliest (step 1) or latest (step -1) place of `run` at or after `low`."""
    if run.tail is _END:
        place = len(index) - run.length
        return place if place >= low and _fits(run, index, place, run.given) else None
    if not run.keys:
        return _search_clear(run, index, low, step=step)
    (offset, _, _, unsure), places = _rarest(run.keys, index)
    tried = 0
    for number, some in enumerate(places if step > 0 else reversed(places)):
        begin = 0
        if low:
            begin = bisect_left(some, low + offset) if isinstance(some, list) else int(some.searchsorted(low + offset))
        for at in range(begin, len(some)) if step > 0 else range(len(some) - 1, begin - 1, -1):
            place = int(some[at]) - offset
            if _fits(run, index, place, unsure):
                return place
            tried += 1
            if tried == _TRIED_ONE_BY_ONE:
                rest = places[number:] if step > 0 else places[: len(places) - number]
                return _search_at_once(run, index, rest, offset, step=step, low=low)
    return None


def _search_clear(run: Run, index: TokenIndex, low: int, *, step: int) -> int | None:
    """A run without given tokens: wherever no hidden span stands in the way."""
    length = run.length
    room = len(index) - length - (run.tail is _MORE)
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


def _rarest(keys: tuple[Key, ...], index: TokenIndex) -> tuple[Key, list[list[int] | np.ndarray]]:
    """The key that occurs least, and its places."""
    found = [(key, index.positions(key.distance, key.number)) for key in keys]
    return found[0] if len(found) == 1 else min(found, key=lambda one: sum(map(len, one[1])))


def _search_at_once(run: Run, index: TokenIndex, places: list, offset: int, *, step: int, low: int) -> int | None:
    """The same as trying place after place, over arrays."""
    candidates = np.concatenate([np.asarray(some, np.int64) for some in places]) - offset
    end = candidates + run.length
    room = len(index) - (run.tail is _MORE)
    candidates = candidates[(candidates >= low) & (end <= room)]
    tokens = index.flat()
    for at, token in run.given:
        candidates = candidates[tokens[candidates + at] == token]
    candidates = candidates[_clear(index, candidates, run.length)]
    if not len(candidates):
        return None
    return int(candidates.min() if step > 0 else candidates.max())


def _clear(index: TokenIndex, begins: Int[np.ndarray, " k"], length: int) -> Bool[np.ndarray, " k"]:
    hidden = np.array(index.hidden, np.int64)
    return hidden.searchsorted(begins) == hidden.searchsorted(begins + length)


def _find_tally(tally: BoundTally, index: TokenIndex) -> Groups | None:
    token, wanted = tally
    if token is None:
        return None
    for some in index.positions(0, token):
        if wanted < len(some):
            place = int(some[wanted])
            return {1: (place, place + 1)} if place + 3 <= len(index) and index.is_clear(0, place + 3) else None
        wanted -= len(some)
    return None
