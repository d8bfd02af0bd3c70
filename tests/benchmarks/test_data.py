"""Both sides of `bench data` do the same work."""

import numpy as np

from benchmarks import data
from recherche.tasks import IsTree, RetrievalTour


def test_both_sides_write_the_same_traces():
    data.check_same_traces(IsTree(n_nodes=12, protocol=RetrievalTour()))


def test_plain_python_draws_trees_and_others_of_the_full_length():
    rows = data.python_rows(30, seed=0)
    task = IsTree(n_nodes=data.N_NODES, protocol=RetrievalTour())
    answers = {ids[-1] for ids, _ in rows}
    assert answers == set(task.vocab.encode(task.answer_tokens).tolist())
    assert max(len(ids) for ids, _ in rows) == task.max_length
    assert all(len(ids) == len(mask) for ids, mask in rows)


def test_hard_graphs_have_one_edge_less_than_vertices():
    edges = data.draw_hard_graph(np.random.default_rng(1), 9)
    assert len(edges) == 8
    assert {v for edge in edges for v in edge} <= set(range(1, 10))
