"""A growing sequence of tokens that knows where each token and each near pair of tokens occurs.

Positions are kept for three kinds of key, (t_i), (t_i, t_i+1) and (t_i, t_i+2), which is enough to find every query of
the paper without a scan. The sequence is a list of immutable layers and a short tail:

    layer   a NumPy array; its index is a stable sort, made when it is first asked for
    tail    the newest tokens, in a dictionary; sealed into a layer when it is long

Four layers of similar size become one, so that n tokens need O(log n) layers, appending costs O(log n) array work per
token in the worst case and nothing is ever moved for a fork: layers are shared.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from typing import final

import numpy as np
from jaxtyping import Int

HIDDEN = -1
"""Stands for a hidden span: the empty token, which no piece contains."""

DISTANCES = (0, 1, 2)
_TAIL_TOKENS = 2048
_FORK_TOKENS = 128
_FANOUT = 4
_DENSE = 4


def pair_key(first: int, second: int) -> int:
    """The key of two tokens at distance 1 or 2; the key of a token alone is its id."""
    return (first << 32) | second


_Sorted = tuple[np.ndarray | None, np.ndarray, np.ndarray]
"""(keys in order, or None if the key is the row; where each key's places begin, and the end; places)."""


@final
class Layer:
    """An immutable run of tokens, with the two tokens before it so that pairs across its border are its own."""

    __slots__ = ("_maps", "before", "start", "tokens")

    def __init__(self, start: int, before: Int[np.ndarray, " h"], tokens: Int[np.ndarray, " t"]) -> None:
        self.start = start
        self.before = before
        self.tokens = tokens
        self._maps: dict[int, _Sorted] = {}

    def positions(self, distance: int, key: int) -> Int[np.ndarray, " k"]:
        """Ascending places of the first token of each pair with this key."""
        found = self._maps.get(distance)
        if found is None:
            found = self._maps[distance] = self._sort(distance)
        keys, starts, places = found
        row = key
        if keys is not None:
            row = int(keys.searchsorted(key))
            if row == len(keys) or keys[row] != key:
                return places[:0]
        elif key >= len(starts) - 1:
            return places[:0]
        return places[starts[row] : starts[row + 1]]

    def _sort(self, distance: int) -> _Sorted:
        window = np.concatenate((self.before, self.tokens)).astype(np.int64)
        skip = max(len(self.before), distance)
        first, second = window[skip - distance : len(window) - distance], window[skip:]
        keys = first if distance == 0 else (first << 32) | second
        shown = np.flatnonzero((first >= 0) & (second >= 0))
        keys = keys[shown]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        places = shown[order] + (self.start - len(self.before) + skip - distance)
        if distance == 0 and len(keys) and keys[-1] < _DENSE * len(keys):
            return None, keys.searchsorted(np.arange(keys[-1] + 2)), places
        new = np.flatnonzero(np.diff(keys, prepend=-1))
        return keys[new], np.append(new, len(keys)), places


@final
class TokenIndex:
    """Token ids (non-negative, or HIDDEN), where each occurs, and where the hidden spans are."""

    __slots__ = ("_flat", "_indexed", "_layers", "_maps", "_starts", "_tail", "_tail_start", "hidden")

    def __init__(self) -> None:
        self.hidden: list[int] = []
        self._layers: list[Layer] = []
        self._starts: list[int] = []
        self._tail: list[int] = []
        self._tail_start = 0
        self._forget_tail()
        self._flat = np.empty(0, np.int64)

    def __len__(self) -> int:
        return self._tail_start + len(self._tail)

    def fork(self) -> "TokenIndex":
        """A copy that grows on its own; all but the newest tokens are shared."""
        if len(self._tail) > _FORK_TOKENS:
            self._seal(np.array(self._tail, np.int64))
        twin = TokenIndex()
        twin.hidden = self.hidden.copy()
        twin._layers, twin._starts = self._layers.copy(), self._starts.copy()
        twin._tail, twin._tail_start = self._tail.copy(), self._tail_start
        return twin

    def append(self, tokens: Sequence[int] | Int[np.ndarray, " t"]) -> None:
        """Add tokens at the end."""
        if len(tokens) >= _TAIL_TOKENS:
            if self._tail:
                self._seal(np.array(self._tail, np.int64))
            self._seal(np.array(tokens, np.int64))
            return
        self._tail.extend(tokens if isinstance(tokens, list) else [int(token) for token in tokens])
        if len(self._tail) >= _TAIL_TOKENS:
            self._seal(np.array(self._tail, np.int64))

    def append_hidden(self) -> None:
        """Add a hidden span, which counts as one token that nothing matches."""
        self.hidden.append(len(self))
        self.append([HIDDEN])

    def token(self, place: int) -> int:
        """The token at a place that exists."""
        if place >= self._tail_start:
            return self._tail[place - self._tail_start]
        layer = self._layers[bisect_right(self._starts, place) - 1]
        return int(layer.tokens[place - layer.start])

    def tokens(self, begin: int, end: int) -> list[int]:
        """The tokens at the places begin .. end - 1, which exist."""
        if begin >= self._tail_start:
            return self._tail[begin - self._tail_start : end - self._tail_start]
        found: list[int] = []
        for layer in self._layers[bisect_right(self._starts, begin) - 1 :]:
            if layer.start >= end:
                return found
            found += layer.tokens[max(begin - layer.start, 0) : end - layer.start].tolist()
        return found + self._tail[: max(end - self._tail_start, 0)]

    def flat(self) -> Int[np.ndarray, " t"]:
        """All tokens as one array; made anew after growth, for the rare scan."""
        if len(self._flat) != len(self):
            self._flat = np.concatenate([layer.tokens for layer in self._layers] + [np.array(self._tail, np.int64)])
        return self._flat

    def positions(self, distance: int, key: int) -> list[list[int] | Int[np.ndarray, " k"]]:
        """Places of the pair at `distance` with this key, or of one token (distance 0), ascending, in runs."""
        runs: list[list[int] | np.ndarray] = []
        for layer in self._layers:
            if len(places := layer.positions(distance, key)):
                runs.append(places)
        if self._indexed[distance] < len(self._tail):
            self._index_tail(distance)
        if newest := self._maps[distance].get(key):
            runs.append(newest)
        return runs

    def is_clear(self, begin: int, end: int) -> bool:
        """Whether no hidden span stands in [begin, end)."""
        if not self.hidden:
            return True
        row = bisect_left(self.hidden, begin)
        return row == len(self.hidden) or self.hidden[row] >= end

    def _forget_tail(self) -> None:
        self._indexed = [0 for _ in DISTANCES]
        self._maps: tuple[defaultdict[int, list[int]], ...] = tuple(defaultdict(list) for _ in DISTANCES)

    def _index_tail(self, distance: int) -> None:
        done = self._indexed[distance]
        self._indexed[distance] = len(self._tail)
        places = self._maps[distance]
        begin = self._tail_start + done
        if distance == 0:
            for place, token in enumerate(self._tail[done:], begin):
                places[token].append(place)
            return
        skipped = max(distance - begin, 0)
        firsts = self.tokens(begin + skipped - distance, len(self) - distance)
        for place, first, second in zip(count(begin + skipped - distance), firsts, self._tail[done + skipped :]):
            if first >= 0 and second >= 0:
                places[(first << 32) | second].append(place)

    def _seal(self, tokens: Int[np.ndarray, " t"]) -> None:
        """Make the tail (or new tokens after an empty tail) a layer; four similar layers become one."""
        self._push(tokens)
        layers = self._layers
        while len(layers) >= _FANOUT and len(layers[-_FANOUT].tokens) < _FANOUT * len(layers[-1].tokens):
            merged = np.concatenate([layer.tokens for layer in layers[-_FANOUT:]])
            del layers[-_FANOUT:], self._starts[-_FANOUT:]
            self._push(merged)

    def _push(self, tokens: Int[np.ndarray, " t"]) -> None:
        start = self._layers[-1].start + len(self._layers[-1].tokens) if self._layers else 0
        before = np.array([self.token(place) for place in range(max(0, start - 2), start)], np.int64)
        self._layers.append(Layer(start, before, tokens))
        self._starts.append(start)
        self._tail, self._tail_start = [], start + len(tokens)
        self._forget_tail()
