"""Graphs for the IsTree constructions: all small ones, random larger ones, and their traces from the task itself.

Every vertex 1..n occurs in an edge. Random graphs alternate between uniform trees, trees after one edit, and the hard
instances of two hubs. Prompts and reference traces are `recherche.tasks.IsTree`'s.

Reference: Wen, Dang & Lyu (2024), Section 4.2.2, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from recherche._rng import numpy_generator
from recherche.constructions.construction import Case, Sizes
from recherche.tasks import EulerTour, HardGraphs, IsTree, NearTrees, RandomTrees, RetrievalTour

Edges = list[tuple[int, int]]
SMALLEST_RANDOM = 4
"""Hard instances need two hubs and two more vertices."""

CaseOf = Callable[[Edges, int], Case]
"""The case of a graph with n vertices, given by its edges in the order of the prompt."""


def small_graphs(n_max: int) -> Iterator[tuple[int, Edges]]:
    """Every graph on 2 to n_max labelled vertices without isolated ones, its edges in one random order each."""
    generator = numpy_generator(n_max, "small graphs")
    for n in range(2, n_max + 1):
        pairs = list(combinations(range(1, n + 1), 2))
        for chosen in range(1, 1 << len(pairs)):
            edges = [pair for i, pair in enumerate(pairs) if chosen >> i & 1]
            if len({vertex for edge in edges for vertex in edge}) == n:
                yield n, _presented(edges, generator)


def _presented(edges: Edges, generator: np.random.Generator) -> Edges:
    order = generator.permutation(len(edges)).tolist()
    turned = generator.integers(0, 2, size=len(edges)).tolist()
    return [edges[i] if keep else edges[i][::-1] for i, keep in zip(order, turned, strict=True)]


def random_graphs(n: int, count: int) -> Iterator[tuple[int, Edges]]:
    """`count` graphs on n vertices, of three kinds in turn."""
    kinds = (RandomTrees(), NearTrees(), HardGraphs())
    keys = numpy_generator(n, "random graphs").integers(0, 2**63, size=count).tolist()
    for i, key in enumerate(keys):
        problem = IsTree(n_nodes=n, graphs=kinds[i % len(kinds)]).example(key).problem
        yield n, [(u, v) for u, v in problem["edges"]]


def graph_cases(sizes: Sizes, case_of: CaseOf) -> Iterator[tuple[int, bool, list[Case]]]:
    """(largest n, exhaustive, cases) for each part of `sizes`."""
    if sizes.exhaustive:
        yield sizes.exhaustive, True, [case_of(edges, n) for n, edges in small_graphs(sizes.exhaustive)]
    for size, count in sizes.sampled:
        if size >= SMALLEST_RANDOM:
            yield size, False, [case_of(edges, n) for n, edges in random_graphs(size, count)]


def task_case(protocol: EulerTour | RetrievalTour, edges: Edges, n: int) -> Case:
    """The prompt and the reference trace that the task IsTree has for this graph."""
    example: Any = IsTree(n_nodes=max(n, 4), protocol=protocol, n_names=max(n, 4)).example_of(edges)
    return Case(example.prompt, example.target)
