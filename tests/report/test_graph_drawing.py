from itertools import combinations
from math import dist

import networkx as nx
import numpy as np
import pytest

from recherche.report.graph_drawing import Drawing, draw_graph


def two_stars(n: int, seed: int, *, tree: bool) -> list[tuple[int, int]]:
    """Hubs 1 and 2 with leaves in turn, and one more edge: between the stars, or inside one."""
    hub_of = {leaf: 1 + leaf % 2 for leaf in range(3, n + 1)}
    more = (3, 4) if tree else (3, 5)
    names = np.random.default_rng(seed).permutation(n) + 1
    edges = [*((leaf, hub) for leaf, hub in hub_of.items()), more]
    return [(int(names[u - 1]), int(names[v - 1])) for u, v in edges]


def crossings(drawing: Drawing) -> int:
    """Pairs of edges that cross at a point inside both."""

    def side(p, q, r) -> float:
        return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)

    count = 0
    for one, two in combinations(drawing.segments, 2):
        a, b, c, d = one.start, one.end, two.start, two.end
        if len({a.name, b.name, c.name, d.name}) == 4:
            count += side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
    return count


def closest(drawing: Drawing) -> float:
    return min(dist((v.x, v.y), (w.x, w.y)) for v, w in combinations(drawing.vertices, 2))


@pytest.mark.parametrize("n", [6, 16, 32, 64])
@pytest.mark.parametrize("tree", [True, False])
def test_two_stars_are_drawn_without_crossings_and_with_room(n: int, tree: bool):
    for seed in range(3):
        drawing = draw_graph(two_stars(n, seed, tree=tree), n_nodes=n)
        assert crossings(drawing) == 0
        assert closest(drawing) > 25
        assert len(drawing.vertices) == n


@pytest.mark.parametrize("seed", range(5))
def test_random_trees_are_drawn_without_crossings(seed: int):
    tree = nx.random_labeled_tree(16, seed=seed)
    drawing = draw_graph([(u + 1, v + 1) for u, v in tree.edges])
    assert crossings(drawing) == 0
    assert closest(drawing) > 15


@pytest.mark.parametrize(
    ("edges", "n_nodes"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([], 3, id="no edge"),
        pytest.param([(1, 2)], 2, id="one edge"),
        pytest.param([(1, 1), (2, 3), (2, 3)], 4, id="a loop and a repeated edge"),
        pytest.param([(1, 2), (2, 3), (3, 1), (4, 1)], 4, id="a triangle with a tail"),
        pytest.param([(u, v) for u, v in combinations(range(1, 6), 2)] + [(1, 9)], 5, id="a clique with a leaf"),
    ],
)
def test_every_graph_has_finite_places_inside_the_plane(edges: list[tuple[int, int]], n_nodes: int):
    drawing = draw_graph(edges, n_nodes=n_nodes)
    assert [vertex.name for vertex in drawing.vertices] == sorted({*range(1, n_nodes + 1), *sum(edges, ())})
    assert [(s.index, s.start.name, s.end.name) for s in drawing.segments] == [(i, *e) for i, e in enumerate(edges)]
    assert all(0 < v.x < drawing.width and 0 < v.y < drawing.height for v in drawing.vertices)


def test_a_ring_is_round():
    drawing = draw_graph([(i, i % 8 + 1) for i in range(1, 9)])
    places = np.array([(v.x, v.y) for v in drawing.vertices])
    radii = np.linalg.norm(places - places.mean(axis=0), axis=1)
    assert radii.std() / radii.mean() < 0.02


def test_the_same_graph_is_always_drawn_the_same_way():
    edges = two_stars(16, 0, tree=True)
    assert draw_graph(edges) == draw_graph(edges)


def test_components_do_not_overlap():
    drawing = draw_graph([(1, 2), (1, 3), (1, 4), (5, 6), (5, 7)], n_nodes=8)
    ends = [[v.x for v in drawing.vertices if v.name in names] for names in ({1, 2, 3, 4}, {5, 6, 7}, {8})]
    assert max(ends[0]) < min(ends[1]) <= max(ends[1]) < min(ends[2])


def test_the_count_of_crossings_can_fail():
    square = draw_graph([(1, 2), (2, 3), (3, 4), (4, 1), (1, 3), (2, 4)])
    assert crossings(square) == 1
