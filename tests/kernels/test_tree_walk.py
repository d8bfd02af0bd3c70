import numpy as np
import pytest

from recherche.kernels import tree_walk
from recherche.kernels.tree_walk import BACK, ENTER, FIRST_EDGE, NEXT_EDGE, PARENT


def steps_of(edges: list[tuple[int, int]], n_nodes: int) -> tuple[list[tuple[int, ...]], bool]:
    steps = np.zeros((tree_walk.STEPS_PER_NODE * n_nodes, 4), np.int64)
    num_steps, tree = tree_walk.walk(np.array(edges), n_nodes, 9, steps)
    assert not steps[num_steps:].any()
    return [tuple(step) for step in steps[:num_steps].tolist()], tree


def test_neighbours_come_in_the_order_of_the_text():
    starts, ends = tree_walk.neighbours(np.array([[3, 1], [1, 2], [2, 3]]), 3)
    lists = {v: ends[starts[v] : starts[v + 1]].tolist() for v in (1, 2, 3)}
    assert lists == {1: [3, 2], 2: [1, 3], 3: [1, 2]}


def test_a_path_is_walked_down_and_back():
    assert steps_of([(1, 2), (3, 2)], 3) == (
        [
            (ENTER, 0, 1, 0),
            (FIRST_EDGE, 1, 0, 2),
            (PARENT, 2, 0, 0),
            (ENTER, 1, 2, 0),
            (FIRST_EDGE, 2, 0, 1),
            (NEXT_EDGE, 2, 1, 3),
            (PARENT, 3, 0, 0),
            (ENTER, 2, 3, 0),
            (FIRST_EDGE, 3, 0, 2),
            (NEXT_EDGE, 3, 2, 0),
            (BACK, 3, 2, 0),
            (PARENT, 2, 0, 1),
            (NEXT_EDGE, 2, 3, 0),
            (BACK, 2, 1, 0),
            (PARENT, 1, 0, 0),
            (NEXT_EDGE, 1, 2, 0),
        ],
        True,
    )


def test_the_walk_stops_at_an_edge_back_to_the_root():
    steps, tree = steps_of([(1, 2), (2, 3), (3, 1)], 3)
    assert steps[-1] == (PARENT, 1, 0, 0)
    assert not tree


def test_the_walk_stops_at_an_edge_to_another_entered_vertex():
    steps, tree = steps_of([(1, 2), (2, 3), (3, 4), (4, 2)], 4)
    assert steps[-1] == (PARENT, 2, 0, 1)
    assert not tree


@pytest.mark.parametrize(
    ("edges", "n_nodes"),
    [([(1, 2), (3, 4)], 4), ([(2, 3)], 3), ([(2, 3), (3, 4), (4, 2)], 4)],
    ids=["two components", "lonely root", "a cycle out of reach"],
)
def test_a_graph_that_is_not_connected_is_no_tree(edges, n_nodes):
    assert not steps_of(edges, n_nodes)[1]
