"""Depth-first search of small graphs from vertex 1, recorded step by step: the one walk behind all IsTree traces.

Vertices are the numbers 1..n_names, edges are rows (u, v) in the order of the text. At each vertex edges are looked at
in that order; the walk goes back to the parent when none is left, and stops at the first cycle: an edge that leads to a
visited vertex other than the parent. A step is four numbers:

    FIRST_EDGE  v  0  u    the first edge at v leads to u           (u = 0: there is none)
    NEXT_EDGE   v  w  u    the first edge at v after {w, v} leads to u  (u = 0: there is none)
    PARENT      v  0  p    v was entered from p                     (p = 0: v is the root, or not entered so far)
    ENTER       p  v  0    the walk goes down from p to v           (p = 0: v is the root)
    BACK        v  p  0    the walk goes back from v to its parent p

Reference: Wen, Dang & Lyu (2024), Algorithms 1 and 2, https://arxiv.org/abs/2402.18510
"""

import numpy as np
from jaxtyping import Int64

from recherche.kernels.compiled import compiled

FIRST_EDGE, NEXT_EDGE, PARENT, ENTER, BACK = range(5)
ROOT = 1
STEPS_PER_NODE = 7
"""A vertex is checked, entered, asked for its first edge, skips its parent's edge, and is left by three steps."""


@compiled
def neighbours(
    edges: Int64[np.ndarray, "m 2"], n_names: int
) -> tuple[Int64[np.ndarray, " starts"], Int64[np.ndarray, " ends"]]:
    """Adjacency in text order: the neighbours of v are ends[starts[v] : starts[v + 1]]."""
    starts = np.zeros(n_names + 2, np.int64)
    for edge in edges:
        starts[edge[0] + 1] += 1
        starts[edge[1] + 1] += 1
    starts = np.cumsum(starts)
    ends = np.empty(2 * len(edges), np.int64)
    filled = starts.copy()
    for edge in edges:
        ends[filled[edge[0]]] = edge[1]
        ends[filled[edge[1]]] = edge[0]
        filled[edge[0]] += 1
        filled[edge[1]] += 1
    return starts, ends


@compiled
def record(steps: Int64[np.ndarray, "s 4"], at: int, kind: int, a: int, b: int, result: int) -> int:
    """Write one step at place `at`; the place after it."""
    steps[at, 0] = kind
    steps[at, 1] = a
    steps[at, 2] = b
    steps[at, 3] = result
    return at + 1


@compiled
def end_at(ends: Int64[np.ndarray, " ends"], place: int, stop: int) -> int:
    """The neighbour at `place`, or 0 past the last one."""
    return ends[place] if place < stop else 0


@compiled
def walk(
    edges: Int64[np.ndarray, "m 2"], n_nodes: int, n_names: int, steps: Int64[np.ndarray, "s 4"]
) -> tuple[int, bool]:
    """Walk one graph, fill `steps`; the number of steps, and whether the graph is a tree on its `n_nodes` vertices.

    No cycle met and all vertices entered means connected and acyclic, so m = n_nodes - 1 holds by itself.
    """
    starts, ends = neighbours(edges, n_names)
    place = starts[: n_names + 1].copy()
    parent = np.zeros(n_names + 1, np.int64)
    v, num_entered = ROOT, 1
    at = record(steps, 0, ENTER, 0, v, 0)
    u = end_at(ends, place[v], starts[v + 1])
    at = record(steps, at, FIRST_EDGE, v, 0, u)
    while True:
        if u != 0 and u == parent[v]:
            place[v] += 1
            u = end_at(ends, place[v], starts[v + 1])
            at = record(steps, at, NEXT_EDGE, v, parent[v], u)
        if u != 0:
            at = record(steps, at, PARENT, u, 0, parent[u])
            if u == ROOT or parent[u] != 0:
                return at, False
            at = record(steps, at, ENTER, v, u, 0)
            parent[u] = v
            v = u
            num_entered += 1
            u = end_at(ends, place[v], starts[v + 1])
            at = record(steps, at, FIRST_EDGE, v, 0, u)
        elif v == ROOT:
            return at, num_entered == n_nodes
        else:
            child, v = v, parent[v]
            at = record(steps, at, BACK, child, v, 0)
            at = record(steps, at, PARENT, v, 0, parent[v])
            place[v] += 1
            u = end_at(ends, place[v], starts[v + 1])
            at = record(steps, at, NEXT_EDGE, v, child, u)
