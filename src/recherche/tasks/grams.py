"""Random lists with a gram whose first occurrence is known, for the tasks that look a gram up."""

import numpy as np
from jaxtyping import Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, stream


@compiled
def ends_with(tokens: Int64[np.ndarray, " n"], end: int, gram: Int64[np.ndarray, " g"]) -> bool:
    """Whether the tokens before place `end` end with the gram."""
    if end < len(gram):
        return False
    same = True
    for i in range(len(gram)):
        same &= tokens[end - len(gram) + i] == gram[i]
    return same


@compiled
def fill_before(state: UInt64[np.ndarray, "1"], tokens: Int64[np.ndarray, " n"], place: int, n_symbols: int) -> None:
    """Draw the tokens before the gram at `place`, so that none of them ends an earlier occurrence."""
    length = len(tokens)
    gram = tokens[place:length].copy()
    for i in range(place):
        tokens[i] = 1 + below(state, n_symbols)
        while ends_with(tokens, i + 1, gram):
            tokens[i] = 1 + below(state, n_symbols)


@compiled
def draw_grams(
    keys: UInt64[np.ndarray, " b"], n: int, n_symbols: int, gram_length: int, after: int
) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, " b"]]:
    """Lists of n tokens from 1..n_symbols, and for each the place of a gram that occurs there first.

    The place is uniform among those with `after` tokens behind the gram; tokens behind the gram are uniform and
    independent of all others. A list in which the gram occurs earlier, overlapping its place, is drawn again.
    """
    tokens = np.empty((len(keys), n), np.int64)
    places = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        place = below(state, n - gram_length - after + 1)
        earlier = True
        while earlier:
            for i in range(place, place + gram_length):
                tokens[row, i] = 1 + below(state, n_symbols)
            fill_before(state, tokens[row, : place + gram_length], place, n_symbols)
            gram = tokens[row, place : place + gram_length]
            earlier = False
            for end in range(gram_length, place + gram_length):
                earlier |= ends_with(tokens[row], end, gram)
        for i in range(place + gram_length, n):
            tokens[row, i] = 1 + below(state, n_symbols)
        places[row] = place
    return tokens, places
