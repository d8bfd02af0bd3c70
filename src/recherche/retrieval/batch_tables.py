"""Tables that answer structured queries for many texts at once, kept up to date token by token in compiled code.

For row b and token v the tables hold places in the row's text, -1 for none:

    after_first, after_last   the token after the first / last v that two more tokens follow
    parent                    T of the first record `T - v`
    write                     x of the last record `v = x ;`
    edge_first, edge_last     the first / last record `u ~ w` with v at an end; `edge_next` chains them, by either end
    same_first, same_last     the first / last v; `same_next` chains them

so that appending costs O(1) per row, and a query O(1), or the steps along a chain: the degree of a vertex for the next
edge, the threshold for a count.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int, Int32

from recherche.kernels.compiled import compiled
from recherche.retrieval.index import HIDDEN
from recherche.vocab import Vocab

NONE, INDEX, AR_FIRST, AR_LAST, COUNT, PARENT, FIRST_EDGE, NEXT_EDGE, LAST_WRITE = range(9)
"""Kinds of queries; NONE asks nothing."""


class Tables(NamedTuple):
    """The texts (b rows, room for t tokens) and what is known of them (v tokens of the vocabulary)."""

    tokens: Int32[np.ndarray, "b t"]
    lengths: Int32[np.ndarray, " b"]
    first_hidden: Int32[np.ndarray, " b"]
    after_first: Int32[np.ndarray, "b v"]
    after_last: Int32[np.ndarray, "b v"]
    parent: Int32[np.ndarray, "b v"]
    write: Int32[np.ndarray, "b v"]
    edge_first: Int32[np.ndarray, "b v"]
    edge_last: Int32[np.ndarray, "b v"]
    edge_next: Int32[np.ndarray, "b t 2"]
    same_first: Int32[np.ndarray, "b v"]
    same_last: Int32[np.ndarray, "b v"]
    same_next: Int32[np.ndarray, "b t"]
    signs: Int32[np.ndarray, " 4"]


def empty_tables(vocab: Vocab, *, n_rows: int, max_length: int) -> Tables:
    """Tables for texts without tokens."""

    def none(*shape: int) -> Int32[np.ndarray, "..."]:
        return np.full(shape, -1, np.int32)

    by_token = [none(n_rows, len(vocab)) for _ in range(8)]
    # -2 is no token, not even a hidden one: a sign that the vocabulary lacks is never met.
    signs = np.array([vocab.id_of(sign) if sign in vocab else -2 for sign in "-~=;"], np.int32)
    return Tables(
        tokens=none(n_rows, max_length),
        lengths=np.zeros(n_rows, np.int32),
        first_hidden=none(n_rows),
        after_first=by_token[0],
        after_last=by_token[1],
        parent=by_token[2],
        write=by_token[3],
        edge_first=by_token[4],
        edge_last=by_token[5],
        edge_next=none(n_rows, max_length, 2),
        same_first=by_token[6],
        same_last=by_token[7],
        same_next=none(n_rows, max_length),
        signs=signs,
    )


@compiled
def append(tables: Tables, rows: Int[np.ndarray, " r"], tokens: Int[np.ndarray, " r"]) -> None:
    """Add one token (HIDDEN for a hidden span) to each of `rows`, in order."""
    has_tables = tables.same_first.shape[1] > 0
    for number in range(len(rows)):
        b, token = rows[number], tokens[number]
        text, n = tables.tokens[b], tables.lengths[b]
        text[n] = token
        tables.lengths[b] = n + 1
        if token == HIDDEN:
            if tables.first_hidden[b] < 0:
                tables.first_hidden[b] = n
            continue
        if not has_tables:
            continue
        if tables.same_first[b, token] < 0:
            tables.same_first[b, token] = n
        else:
            tables.same_next[b, tables.same_last[b, token]] = n
        tables.same_last[b, token] = n
        if n < 2 or text[n - 1] == HIDDEN or text[n - 2] == HIDDEN:
            continue
        older, old = text[n - 2], text[n - 1]
        if tables.after_first[b, older] < 0:
            tables.after_first[b, older] = n - 1
        tables.after_last[b, older] = n - 1
        record, edge, write, end = tables.signs
        if old == record and tables.parent[b, token] < 0:
            tables.parent[b, token] = n - 2
        if old == edge:
            _link(tables, b, n - 2, older)
            if token != older:
                _link(tables, b, n - 2, token)
        if token == end and older == write and n > 2 and text[n - 3] != HIDDEN:
            tables.write[b, text[n - 3]] = n - 1


@compiled
def _link(tables: Tables, b: int, place: int, vertex: int) -> None:
    """Put the record at `place` at the end of the chain of `vertex`."""
    if tables.edge_first[b, vertex] < 0:
        tables.edge_first[b, vertex] = place
    else:
        last = tables.edge_last[b, vertex]
        tables.edge_next[b, last, 0 if tables.tokens[b, last] == vertex else 1] = place
    tables.edge_last[b, vertex] = place


@compiled
def _edge_after(tables: Tables, b: int, vertex: int, other: int) -> int:
    """The record at `vertex` that begins after the end of the first record {other, vertex}; -1 for none."""
    text = tables.tokens[b]
    used = -1
    place = tables.edge_first[b, vertex]
    while place >= 0:
        if used >= 0 and place >= used + 3:
            return place
        ends_here = text[place + 2] == vertex
        if used < 0 and ((ends_here and text[place] == other) or (text[place] == vertex and text[place + 2] == other)):
            used = place
        place = tables.edge_next[b, place, 0 if text[place] == vertex else 1]
    return -1


@compiled
def _occurrence(tables: Tables, b: int, token: int, number: int) -> int:
    """Occurrence `number` (from 0) of a token, if no hidden span and two more tokens follow; -1 for none."""
    place = tables.same_first[b, token]
    while place >= 0 and number > 0:
        place = tables.same_next[b, place]
        number -= 1
    hidden = tables.first_hidden[b]
    if place < 0 or place + 3 > tables.lengths[b] or 0 <= hidden < place + 3:
        return -1
    return place


@compiled
def find(
    tables: Tables, kinds: Int[np.ndarray, " b"], keys: Int[np.ndarray, " b"], others: Int[np.ndarray, " b"]
) -> tuple[Int[np.ndarray, " b"], Int[np.ndarray, " b"]]:
    """(place of each row's answer, -1 for none; number of the group that holds it), one query per row.

    Args:
        kinds: kind of each row's query.
        keys: its token (for INDEX the position from 1).
        others: for NEXT_EDGE the other end of the used edge, for COUNT the threshold.
    """
    places = np.full(len(kinds), -1, np.int64)
    groups = np.ones(len(kinds), np.int64)
    for b in range(len(kinds)):
        kind, key = kinds[b], keys[b]
        hidden = tables.first_hidden[b]
        if kind == INDEX:
            if key < tables.lengths[b] and not 0 <= hidden <= key:
                places[b] = key - 1
        elif kind == NONE or key < 0:
            continue
        elif kind == AR_FIRST:
            places[b] = tables.after_first[b, key]
        elif kind == AR_LAST:
            places[b] = tables.after_last[b, key]
        elif kind == COUNT:
            places[b] = _occurrence(tables, b, key, others[b])
        elif kind == PARENT:
            places[b] = tables.parent[b, key]
        elif kind == LAST_WRITE:
            places[b] = tables.write[b, key]
        else:
            place = tables.edge_first[b, key] if kind == FIRST_EDGE else _edge_after(tables, b, key, others[b])
            if place >= 0 and tables.tokens[b, place + 2] == key:
                places[b] = place
            elif place >= 0:
                places[b], groups[b] = place + 2, 2
    return places, groups
