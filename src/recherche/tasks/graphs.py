"""Graphs for IsTree: what is drawn, how its vertices are named, and the definition of a tree.

A generator draws edges between the places 0..n-1; a naming gives each place a name; `present` shuffles the order of the
edges and turns each around at random. All of it is a function of the row's key.

    HardGraphs     two hubs h0, h1; each other vertex a hangs on hub x_a, a fair bit; one more edge joins the neighbours
                   k, k+1. A tree iff x_k != x_{k+1}: half of the draws. A hub may stay empty (then the answer is NO).

                       a   c   e            a - c and a, c on the same hub: a triangle, NO
                        \\ | /
                         h0    h1 - b       c - d with c on h0 and d on h1: a tree, YES

    RandomTrees    uniform over the labelled trees (Pruefer codes): always YES
    NearTrees      a random tree after one edit. Half of the draws stay trees (an edge moved); the others have an edge
                   added, removed, or moved so that it closes a cycle. No vertex is isolated; where a tree allows no
                   such edit (a star has no edge to remove), an edge is added instead.

Reference: Wen, Dang & Lyu (2024), Section 6 and Theorem 4.7, https://arxiv.org/abs/2402.18510
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log2
from types import MappingProxyType
from typing import ClassVar, final

import numpy as np
from jaxtyping import Int64, UInt64

from recherche.errors import ConfigError
from recherche.tasks import graph_draws

Edges = Int64[np.ndarray, "b m 2"]


def is_tree(edges: Iterable[Sequence[int]], n_nodes: int) -> bool:
    """Whether the edges make a tree of `n_nodes` vertices: n_nodes - 1 edges, each of which joins two components.

    >>> is_tree([(1, 2), (2, 3)], 3), is_tree([(1, 2), (2, 3), (3, 1)], 3), is_tree([(1, 2), (3, 4)], 4)
    (True, False, False)
    """
    leader: dict[int, int] = {}
    num_edges = 0
    for u, v in edges:
        a, b = find(leader, u), find(leader, v)
        if a == b:
            return False
        leader[a] = b
        num_edges += 1
    return num_edges == n_nodes - 1


def find(leader: dict[int, int], v: int) -> int:
    """The vertex that stands for v's component (union-find with path halving)."""
    while leader.setdefault(v, v) != v:
        leader[v] = leader[leader[v]]
        v = leader[v]
    return v


class AbstractGraphs(ABC):
    """A distribution of graphs for each number of vertices."""

    min_nodes: ClassVar[int]
    share_of_trees: ClassVar[Fraction]

    @abstractmethod
    def lower_bound_bits(self, n_nodes: int) -> float:
        """Bits that a reader must keep of all edges but the last to be always right; the proof is with each kind."""

    @abstractmethod
    def max_edges(self, n_nodes: int) -> int:
        """The most edges that a draw has."""

    @abstractmethod
    def draw(self, keys: UInt64[np.ndarray, " b"], n_nodes: int) -> tuple[Edges, Int64[np.ndarray, " b"]]:
        """For each key the edges between the places 0..n_nodes-1, and how many they are."""

    def check(self, n_nodes: int) -> None:
        """Refuse a size that these graphs cannot have.

        Raises:
            ConfigError: `n_nodes` is too small.
        """
        if n_nodes < self.min_nodes:
            raise ConfigError(
                f"{type(self).__name__} need at least {self.min_nodes} vertices, got {n_nodes}; "
                f"choose a larger n or another kind of graph ({', '.join(GRAPHS)})."
            )


@final
@dataclass(frozen=True, slots=True)
class HardGraphs(AbstractGraphs):
    """Two hubs and one more edge, the instances of the paper's lower bound and of its experiments; half are trees."""

    min_nodes: ClassVar[int] = 4
    share_of_trees: ClassVar[Fraction] = Fraction(1, 2)

    def lower_bound_bits(self, n_nodes: int) -> float:
        """n - 3, by what the last edge may ask.

        Fix the names of the hubs, and let the bridging edge come last. The first n - 2 edges say which vertex hangs on
        which hub: one of 2^(n-2) placements. The last edge {a, b} asks whether a and b hang on different hubs, and any
        a and b may be asked. Two placements that are neither equal nor complements differ in that answer for some pair,
        so a reader that is always right has another state after each of 2^(n-3) of them.
        """
        return float(n_nodes - 3)

    def max_edges(self, n_nodes: int) -> int:
        """Always n - 1: the number of edges says nothing."""
        return n_nodes - 1

    def draw(self, keys: UInt64[np.ndarray, " b"], n_nodes: int) -> tuple[Edges, Int64[np.ndarray, " b"]]:
        """Places n-2 and n-1 are the hubs."""
        return graph_draws.hard_graphs(keys, n_nodes)


@final
@dataclass(frozen=True, slots=True)
class RandomTrees(AbstractGraphs):
    """Uniformly random labelled trees."""

    min_nodes: ClassVar[int] = 2
    share_of_trees: ClassVar[Fraction] = Fraction(1)

    def lower_bound_bits(self, n_nodes: int) -> float:
        """None: the answer is always YES."""
        return 0.0

    def max_edges(self, n_nodes: int) -> int:
        """Always n - 1."""
        return n_nodes - 1

    def draw(self, keys: UInt64[np.ndarray, " b"], n_nodes: int) -> tuple[Edges, Int64[np.ndarray, " b"]]:
        """Decode one random Pruefer code for each key."""
        return graph_draws.random_trees(keys, n_nodes)


@final
@dataclass(frozen=True, slots=True)
class NearTrees(AbstractGraphs):
    """Random trees with one edge moved, added or removed; half of them are still trees."""

    min_nodes: ClassVar[int] = 3
    share_of_trees: ClassVar[Fraction] = Fraction(1, 2)

    def lower_bound_bits(self, n_nodes: int) -> float:
        """log2(2^(n-3) - 1): the argument of `HardGraphs`, for the placements in which neither hub is empty.

        Two stars with at least one vertex each and a last edge {a, b} across them are a tree; with {a, b} within one
        star they are the tree of both stars and the edge between the hubs, after that edge was moved. Both are drawn.
        """
        return log2(2 ** (n_nodes - 3) - 1) if n_nodes > 4 else 0.0

    def max_edges(self, n_nodes: int) -> int:
        """One more than a tree has."""
        return n_nodes

    def draw(self, keys: UInt64[np.ndarray, " b"], n_nodes: int) -> tuple[Edges, Int64[np.ndarray, " b"]]:
        """One random tree and one edit for each key."""
        return graph_draws.near_trees(keys, n_nodes)


GRAPHS: MappingProxyType[str, Callable[[], AbstractGraphs]] = MappingProxyType(
    {"hard": HardGraphs, "trees": RandomTrees, "near": NearTrees}
)


class AbstractNaming(ABC):
    """Which of the names 1..n_names the vertices of a smaller graph get; vertex 1 is always among them."""

    @abstractmethod
    def draw(self, keys: UInt64[np.ndarray, " b"], n_nodes: int, n_names: int) -> Int64[np.ndarray, "b n"]:
        """For each key the names of the places 0..n_nodes-1, in random order."""


@final
@dataclass(frozen=True, slots=True)
class RandomNames(AbstractNaming):
    """Vertex 1 and a random choice among the other names: a small graph trains the names of a large one."""

    def draw(self, keys: UInt64[np.ndarray, " b"], n_nodes: int, n_names: int) -> Int64[np.ndarray, "b n"]:
        """A fresh choice for each key."""
        return graph_draws.draw_names(keys, n_nodes, n_names)


@final
@dataclass(frozen=True, slots=True)
class FirstNames(AbstractNaming):
    """The names 1..n_nodes."""

    def draw(self, keys: UInt64[np.ndarray, " b"], n_nodes: int, n_names: int) -> Int64[np.ndarray, "b n"]:
        """A fresh order for each key."""
        return graph_draws.draw_names(keys, n_nodes, n_nodes)


NAMINGS: MappingProxyType[str, Callable[[], AbstractNaming]] = MappingProxyType(
    {"random": RandomNames, "first": FirstNames}
)


def present(
    keys: UInt64[np.ndarray, " b"],
    edges: Edges,
    *,
    num_edges: Int64[np.ndarray, " b"],
    names: Int64[np.ndarray, "b n"],
) -> Edges:
    """The edges between names, as a text lists them: in random order, each the one or the other way round."""
    return graph_draws.present(keys, edges, num_edges, names)
