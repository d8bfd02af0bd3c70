"""The compiled loops behind `graphs.py`: one row function for each kind of graph, and the loop over keys around it.

Each purpose has its own random stream, so that a graph keeps its shape whatever its names are.

Reference: Pruefer codes after Wang, Wang & Wu (2009), An Optimal Algorithm for Pruefer Codes,
https://doi.org/10.4236/jsea.2009.22016
"""

import numpy as np
from jaxtyping import Bool, Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, permutation, shuffle, stream

SHAPE, NAMES, ORDER = range(3)
ADDED, REMOVED, MOVED = range(3)
NONE = -1


@compiled
def hard_graphs(
    keys: UInt64[np.ndarray, " b"], n_nodes: int
) -> tuple[Int64[np.ndarray, "b m 2"], Int64[np.ndarray, " b"]]:
    """Two-hub graphs on the places 0..n_nodes-1; the hubs are the last two places."""
    edges = np.empty((len(keys), n_nodes - 1, 2), np.int64)
    n_spokes = n_nodes - 2
    for row in range(len(keys)):
        state = stream(keys[row], SHAPE)
        for a in range(n_spokes):
            edges[row, a, 0] = a
            edges[row, a, 1] = n_spokes + below(state, 2)
        k = below(state, n_spokes - 1)
        edges[row, n_spokes, 0] = k
        edges[row, n_spokes, 1] = k + 1
    return edges, np.full(len(keys), n_nodes - 1)


@compiled
def fill_random_tree(state: UInt64[np.ndarray, "1"], edges: Int64[np.ndarray, "m 2"], n_nodes: int) -> None:
    """Write the edges of a uniformly random labelled tree: a random Pruefer code, decoded in linear time."""
    code = np.empty(n_nodes - 2, np.int64)
    degree = np.ones(n_nodes, np.int64)
    for i in range(n_nodes - 2):
        code[i] = below(state, n_nodes)
        degree[code[i]] += 1
    scanned = 0
    while degree[scanned] != 1:
        scanned += 1
    leaf = scanned
    for i in range(n_nodes - 2):
        v = code[i]
        edges[i, 0] = leaf
        edges[i, 1] = v
        degree[v] -= 1
        if degree[v] == 1 and v < scanned:
            leaf = v
        else:
            scanned += 1
            while degree[scanned] != 1:
                scanned += 1
            leaf = scanned
    edges[n_nodes - 2, 0] = leaf
    edges[n_nodes - 2, 1] = n_nodes - 1


@compiled
def random_trees(
    keys: UInt64[np.ndarray, " b"], n_nodes: int
) -> tuple[Int64[np.ndarray, "b m 2"], Int64[np.ndarray, " b"]]:
    """Uniformly random labelled trees on the places 0..n_nodes-1."""
    edges = np.empty((len(keys), n_nodes - 1, 2), np.int64)
    for row in range(len(keys)):
        fill_random_tree(stream(keys[row], SHAPE), edges[row], n_nodes)
    return edges, np.full(len(keys), n_nodes - 1)


@compiled
def has_edge(edges: Int64[np.ndarray, "m 2"], a: int, b: int) -> bool:
    """Whether {a, b} is one of the edges."""
    found = False
    for u, v in edges:
        found |= (u == a and v == b) or (u == b and v == a)
    return found


@compiled
def draw_inner_edge(state: UInt64[np.ndarray, "1"], tree: Int64[np.ndarray, "m 2"], n_nodes: int) -> int:
    """The place of a random edge between two vertices that are no leaves, NONE if the tree is a star."""
    degree = np.zeros(n_nodes, np.int64)
    for edge in tree:
        degree[edge[0]] += 1
        degree[edge[1]] += 1
    inner = np.empty(len(tree), np.int64)
    count = 0
    for i in range(len(tree)):
        if degree[tree[i, 0]] > 1 and degree[tree[i, 1]] > 1:
            inner[count] = i
            count += 1
    return inner[below(state, count)] if count else NONE


@compiled
def far_side(tree: Int64[np.ndarray, "m 2"], cut: int, n_nodes: int) -> Bool[np.ndarray, " n"]:
    """Which vertices hang on the second end of the edge at place `cut`, once that edge is taken away."""
    side = np.zeros(n_nodes, np.bool_)
    side[tree[cut, 1]] = True
    grown = True
    while grown:
        grown = False
        for i in range(len(tree)):
            if i != cut and side[tree[i, 0]] != side[tree[i, 1]]:
                side[tree[i, 0]] = True
                side[tree[i, 1]] = True
                grown = True
    return side


@compiled
def move_edge(state: UInt64[np.ndarray, "1"], tree: Int64[np.ndarray, "m 2"], cut: int, across: bool) -> None:
    """Replace the edge at place `cut` by a random other one, across the two sides of the cut or within one side."""
    n_nodes = len(tree) + 1
    side = far_side(tree, cut, n_nodes)
    while True:
        a = below(state, n_nodes)
        b = below(state, n_nodes)
        if a != b and (side[a] != side[b]) == across and not has_edge(tree, a, b):
            tree[cut, 0] = a
            tree[cut, 1] = b
            return


@compiled
def edit_tree(state: UInt64[np.ndarray, "1"], edges: Int64[np.ndarray, "m 2"], n_nodes: int) -> int:
    """Apply one random edit to the tree in the first n_nodes - 1 rows of `edges`; how many edges there are now."""
    tree = edges[: n_nodes - 1]
    if below(state, 2) == 0:
        move_edge(state, tree, below(state, n_nodes - 1), True)
        return n_nodes - 1
    edit = below(state, 3)
    cut = draw_inner_edge(state, tree, n_nodes)
    if edit == REMOVED and cut != NONE:
        tree[cut] = tree[n_nodes - 2]
        return n_nodes - 2
    if edit == MOVED and cut != NONE and n_nodes > 4:
        move_edge(state, tree, cut, False)
        return n_nodes - 1
    a = b = 0
    while a == b or has_edge(tree, a, b):
        a = below(state, n_nodes)
        b = below(state, n_nodes)
    edges[n_nodes - 1, 0] = a
    edges[n_nodes - 1, 1] = b
    return n_nodes


@compiled
def near_trees(
    keys: UInt64[np.ndarray, " b"], n_nodes: int
) -> tuple[Int64[np.ndarray, "b m 2"], Int64[np.ndarray, " b"]]:
    """Random trees after one random edit each."""
    edges = np.zeros((len(keys), n_nodes, 2), np.int64)
    num_edges = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], SHAPE)
        fill_random_tree(state, edges[row], n_nodes)
        num_edges[row] = edit_tree(state, edges[row], n_nodes)
    return edges, num_edges


@compiled
def draw_names(keys: UInt64[np.ndarray, " b"], n_nodes: int, n_names: int) -> Int64[np.ndarray, "b n"]:
    """Name 1 and n_nodes - 1 of the names 2..n_names, a uniformly random choice in uniformly random order."""
    names = np.empty((len(keys), n_nodes), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], NAMES)
        others = permutation(state, n_names - 1)
        names[row, 0] = 1
        for i in range(1, n_nodes):
            names[row, i] = others[i - 1] + 2
        shuffle(state, names[row])
    return names


@compiled
def present(
    keys: UInt64[np.ndarray, " b"],
    edges: Int64[np.ndarray, "b m 2"],
    num_edges: Int64[np.ndarray, " b"],
    names: Int64[np.ndarray, "b n"],
) -> Int64[np.ndarray, "b m 2"]:
    """The edges under their names, in random order and orientation; rows past the last edge are 0."""
    shown = np.zeros_like(edges)
    for row in range(len(keys)):
        state = stream(keys[row], ORDER)
        order = permutation(state, num_edges[row])
        for i in range(num_edges[row]):
            first = below(state, 2)
            shown[row, i, 0] = names[row, edges[row, order[i], first]]
            shown[row, i, 1] = names[row, edges[row, order[i], 1 - first]]
    return shown
