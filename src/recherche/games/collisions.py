"""Two texts, one state: the pigeonhole made visible.

An automaton with fewer states than there are texts takes two texts to the same state; whatever is asked then gets the
same answer. As any two texts of a family have different right answers to some question, it is wrong on one of them:

    state(x) = state(y),   x_i != y_i,   question i   =>   one of the two answers is wrong

The search is exhaustive where there are at most 2^22 texts. Beyond, it looks where states that forget must meet: among
all values of the first few symbols before a common, randomly drawn rest (a birthday search over prefixes), for several
rests. Texts with common first symbols share the work: they form a tree, walked depth first in batches.

Reference: Wen, Dang & Lyu (2024), Section 4.2 and proof of Theorem 4.7, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Int, UInt64

from recherche.games.automaton import Automaton, state_digest, state_hashes
from recherche.games.families import Family, Symbols
from recherche.mixers.state import named_tensors, select_rows

EXHAUSTIVE_BITS = 22
"""If there are at most 2 to this many texts, all are tried."""

_PREFIX_BITS = 12
_BATCH = 4096


def is_exhaustive(family: Family) -> bool:
    """Whether all texts of the family are tried, so that finding none proves that there is none."""
    return family.bits <= EXHAUSTIVE_BITS


def find_collision(
    automaton: Automaton, family: Family, *, generator: np.random.Generator, num_rests: int = 8
) -> tuple[Symbols, Symbols] | None:
    """Two texts, as symbols, that end in the same state; None if none was found.

    Args:
        generator: draws the common rests, where the search is not exhaustive.
        num_rests: how many rests are tried.
    """
    k, m = family.num_symbols, family.length
    width = m if is_exhaustive(family) else max(1, int(_PREFIX_BITS / log2(k)))
    for _ in range(1 if width == m else num_rests):
        rest = generator.integers(k, size=m - width)
        for pair in _Tree(automaton, family, width, rest).equal_ends():
            # A batch may round differently from a text alone; only what a text alone does counts.
            if len({end_of(automaton, family.text(symbols)) for symbols in pair}) == 1:
                return pair
    return None


def end_of(automaton: Automaton, text: np.ndarray) -> str:
    """The digest of the state after one text, read alone."""
    _, state = automaton.read(automaton.start(1), text[None])
    return state_digest(state)


@final
@dataclass(frozen=True, slots=True)
class _Tree:
    """All values of the first `width` symbols, each followed by the same rest."""

    automaton: Automaton
    family: Family
    width: int
    rest: Symbols

    def equal_ends(self) -> Iterator[tuple[Symbols, Symbols]]:
        """Pairs of texts that end in the same state; looked for each time as many have been read as before."""
        _, start = self.automaton.read(self.automaton.start(1), self.family.opening[None])
        parts: list[UInt64[np.ndarray, " s"]] = []
        read = seen = 0
        for part in self._ends(start, 0):
            parts.append(part)
            read += len(part)
            if read >= 2 * seen or read == self.family.num_symbols**self.width:
                for first, second in _equal_pairs(np.concatenate(parts)).tolist():
                    if second >= seen:
                        yield self._symbols(first), self._symbols(second)
                seen = read

    def _ends(self, state: Any, place: int) -> Iterator[UInt64[np.ndarray, " s"]]:
        """Hashes of the states at the leaves below the rows of `state`, in order."""
        rows = next(named_tensors(state))[1].shape[0]
        if place == self.width:
            for later, symbol in enumerate(self.rest.tolist(), start=place):
                segment = np.tile(self.family.segments[later, symbol], (rows, 1))
                _, state = self.automaton.read(state, segment)
            yield state_hashes(state)
            return
        k, device = self.family.num_symbols, self.automaton.model.device
        for part in torch.arange(rows, device=device).split(max(1, _BATCH // k)):
            segment = np.tile(self.family.segments[place], (len(part), 1))
            _, after = self.automaton.read(select_rows(state, part.repeat_interleave(k)), segment)
            yield from self._ends(after, place + 1)

    def _symbols(self, leaf: int) -> Symbols:
        k = self.family.num_symbols
        digits = [leaf // k**place % k for place in range(self.width - 1, -1, -1)]
        return np.concatenate([np.array(digits, dtype=np.int64), self.rest])


def _equal_pairs(hashes: UInt64[np.ndarray, " s"]) -> Int[np.ndarray, "p 2"]:
    """Pairs of neighbours, in the order of their hashes, that have the same."""
    order = np.argsort(hashes, kind="stable")
    (equal,) = np.nonzero(hashes[order][1:] == hashes[order][:-1])
    return np.stack([order[equal], order[equal + 1]], axis=1)
