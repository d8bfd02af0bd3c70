"""Graphs for IsTree: how many small ones there are, and that the random ones are mixed."""

from recherche.constructions.construction import Sizes
from recherche.constructions.graph_problems import graph_cases, random_graphs, small_graphs, task_case
from recherche.tasks import EulerTour


def test_every_graph_without_isolated_vertices_is_there_once():
    counts = {n: 0 for n in (2, 3, 4)}
    seen = set()
    for n, edges in small_graphs(4):
        counts[n] += 1
        seen.add(frozenset(frozenset(edge) for edge in edges))
    assert counts == {2: 1, 3: 4, 4: 41}
    assert len(seen) == 46


def test_random_graphs_are_trees_and_others():
    answers = [task_case(EulerTour(), edges, n).completion[-1] for n, edges in random_graphs(12, 12)]
    assert {"YES", "NO"} == set(answers)


def test_cases_come_in_groups():
    groups = list(graph_cases(Sizes(3, ((6, 2),)), lambda edges, n: task_case(EulerTour(), edges, n)))
    assert [(n, exhaustive, len(cases)) for n, exhaustive, cases in groups] == [(3, True, 5), (6, False, 2)]
