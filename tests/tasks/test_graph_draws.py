import numpy as np

from recherche.kernels.random import stream
from recherche.tasks import graph_draws
from recherche.tasks.graphs import is_tree

PATH = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
STAR = np.array([[0, 1], [0, 2], [0, 3]])


def state(key: int):
    return stream(np.uint64(key), 0)


def test_inner_edges_are_those_between_vertices_that_are_no_leaves():
    assert {graph_draws.draw_inner_edge(state(key), PATH, 5) for key in range(50)} == {1, 2}
    assert graph_draws.draw_inner_edge(state(0), STAR, 4) == graph_draws.NONE


def test_a_cut_leaves_the_vertices_behind_it_on_the_far_side():
    assert graph_draws.far_side(PATH, 1, 5).tolist() == [False, False, True, True, True]


def test_an_edge_moved_across_the_cut_keeps_the_tree_and_one_moved_within_a_side_does_not():
    for key in range(50):
        across, within = PATH.copy(), PATH.copy()
        graph_draws.move_edge(state(key), across, 1, True)
        graph_draws.move_edge(state(key), within, 1, False)
        assert is_tree(across.tolist(), 5)
        assert not is_tree(within.tolist(), 5)
        assert across.tolist() != PATH.tolist()


def test_an_edge_is_found_in_either_orientation():
    assert graph_draws.has_edge(PATH, 2, 1)
    assert graph_draws.has_edge(PATH, 1, 2)
    assert not graph_draws.has_edge(PATH, 0, 2)


def test_names_do_not_change_the_shape():
    keys = np.arange(5, dtype=np.uint64)
    assert (graph_draws.hard_graphs(keys, 8)[0] == graph_draws.hard_graphs(keys, 8)[0]).all()
    assert (graph_draws.draw_names(keys, 8, 8) != graph_draws.draw_names(keys, 8, 20)).any()
