from collections import Counter

import networkx
import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.tasks.graphs import GRAPHS, FirstNames, HardGraphs, NearTrees, RandomNames, RandomTrees, is_tree, present

KEYS = np.arange(3000, dtype=np.uint64)
FEW = KEYS[:120]
KINDS = [pytest.param(kind(), id=name) for name, kind in GRAPHS.items()]


def drawn(graphs, n_nodes, keys=KEYS):
    edges, num_edges = graphs.draw(keys, n_nodes)
    return [[tuple(edge) for edge in row[:m]] for row, m in zip(edges.tolist(), num_edges.tolist(), strict=True)]


@pytest.mark.parametrize("graphs", KINDS)
@pytest.mark.parametrize("n_nodes", [4, 9])
def test_draws_are_simple_graphs_within_their_bounds(graphs, n_nodes):
    for edges in drawn(graphs, n_nodes, FEW):
        assert all(0 <= u < n_nodes and 0 <= v < n_nodes and u != v for u, v in edges)
        assert len({frozenset(edge) for edge in edges}) == len(edges) <= graphs.max_edges(n_nodes)


@pytest.mark.parametrize("graphs", KINDS)
@pytest.mark.parametrize("n_nodes", [4, 9])
def test_is_tree_agrees_with_networkx(graphs, n_nodes):
    for edges in drawn(graphs, n_nodes, FEW):
        oracle = networkx.empty_graph(n_nodes)
        oracle.add_edges_from(edges)
        assert is_tree(edges, n_nodes) == networkx.is_tree(oracle)


@pytest.mark.parametrize(("graphs", "share"), [(HardGraphs(), 0.5), (RandomTrees(), 1.0), (NearTrees(), 0.5)])
@pytest.mark.parametrize("n_nodes", [4, 5])
def test_the_share_of_trees_is_as_stated(graphs, share, n_nodes):
    trees = np.mean([is_tree(edges, n_nodes) for edges in drawn(graphs, n_nodes, KEYS[:1000])])
    assert abs(trees - share) < 0.05


@pytest.mark.parametrize("graphs", [pytest.param(RandomTrees(), id="trees"), pytest.param(NearTrees(), id="near")])
@pytest.mark.parametrize("n_nodes", [3, 4, 8])
def test_no_vertex_is_isolated(graphs, n_nodes):
    assert all({v for edge in edges for v in edge} == set(range(n_nodes)) for edges in drawn(graphs, n_nodes, FEW))


def test_hard_graphs_are_two_stars_and_one_edge_between_neighbours():
    for edges in drawn(HardGraphs(), 7, FEW):
        *spokes, (k, following) = edges
        assert [a for a, _ in spokes] == [0, 1, 2, 3, 4]
        assert {hub for _, hub in spokes} <= {5, 6}
        assert following == k + 1 < 5
        assert is_tree(edges, 7) == (dict(spokes)[k] != dict(spokes)[k + 1])


def test_all_labelled_trees_are_equally_likely():
    counts = Counter(frozenset(frozenset(edge) for edge in edges) for edges in drawn(RandomTrees(), 4))
    assert len(counts) == 4**2
    assert max(abs(count - len(KEYS) / 16) for count in counts.values()) < 60


def test_two_vertices_have_one_tree():
    assert drawn(RandomTrees(), 2, KEYS[:2]) == [[(0, 1)], [(0, 1)]]


def test_near_trees_differ_from_a_tree_by_one_edge_of_each_kind():
    sizes = Counter((len(edges), is_tree(edges, 8)) for edges in drawn(NearTrees(), 8, KEYS[:1000]))
    assert set(sizes) == {(6, False), (7, False), (7, True), (8, False)}
    assert min(sizes.values()) > 100


@pytest.mark.parametrize("graphs", KINDS)
def test_a_size_that_is_too_small_is_refused(graphs):
    graphs.check(graphs.min_nodes)
    with pytest.raises(ConfigError, match=rf"need at least {graphs.min_nodes} vertices, got {graphs.min_nodes - 1};"):
        graphs.check(graphs.min_nodes - 1)


def test_random_names_hold_vertex_1_and_any_of_the_others():
    names = RandomNames().draw(KEYS, 3, 6)
    assert all(1 in row and len(set(row)) == 3 for row in names.tolist())
    assert set(np.unique(names)) == {1, 2, 3, 4, 5, 6}
    assert {row.index(1) for row in names.tolist()} == {0, 1, 2}


def test_first_names_are_the_first():
    assert all(sorted(row) == [1, 2, 3] for row in FirstNames().draw(KEYS, 3, 6).tolist())


def test_presenting_renames_turns_and_reorders_edges():
    edges = np.tile(np.array([[0, 1], [1, 2], [0, 0]]), (len(KEYS), 1, 1))
    names = np.tile(np.array([4, 1, 3]), (len(KEYS), 1))
    shown = present(KEYS, edges, num_edges=np.full(len(KEYS), 2), names=names)
    texts = Counter(str(row) for row in shown.tolist())
    assert len(texts) == 8
    assert all(
        {frozenset(edge) for edge in row} == {frozenset((4, 1)), frozenset((1, 3))} for row in shown[:, :2].tolist()
    )
    assert not shown[:, 2].any()
    assert min(texts.values()) > 300
