"""IsTree: given the edges of a graph in random order, say whether it is a tree.

    prompt  <s> 2 ~ 1 3 ~ 2 <d>          target  YES          (after whatever the protocol writes first)

A graph is a tree if there is exactly one simple path between every two vertices; equivalently it is connected and has
n - 1 edges. No retrieval is asked for, yet a streaming reader has to remember about n bits: whether two hubs are joined
depends on two of the n - 2 bits that say which vertex hangs on which hub.

    >>> from recherche.tasks.is_tree_traces import Direct, EulerTour
    >>> IsTree(n_nodes=4, protocol=Direct()).example_of([(2, 1), (3, 2)]).target
    ('YES',)
    >>> IsTree(n_nodes=4, protocol=EulerTour()).example_of([(1, 2), (2, 3), (3, 1)]).target
    ('1', '2', '3', 'NO')

Reference: Wen, Dang & Lyu (2024), Section 4.2.2, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Int64, UInt64

from recherche._lookup import lookup
from recherche.errors import ConfigError, QueryError
from recherche.queries import FirstEdge, NextEdge, Parent, Query
from recherche.tasks.base import AbstractTask, Batch, Example
from recherche.tasks.edge_lists import Edge, check_edges
from recherche.tasks.graphs import (
    GRAPHS,
    NAMINGS,
    AbstractGraphs,
    AbstractNaming,
    Edges,
    HardGraphs,
    RandomNames,
    is_tree,
    present,
)
from recherche.tasks.is_tree_traces import PROTOCOLS, AbstractProtocol, EulerTour, write_rows
from recherche.tasks.rows import example_of_row
from recherche.tasks.symbols import EDGE, FAILED_ID, RECORD, number_vocab
from recherche.vocab import NO, YES, Vocab


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class IsTree(AbstractTask):
    """Graphs to be told from trees.

    Attributes:
        n_nodes: vertices of each graph.
        protocol: how the answer may be worked out.
        graphs: which graphs are drawn.
        n_names: vertices that the vocabulary can name; n_nodes unless given.
        naming: which of the names the vertices of a graph get.
    """

    key: ClassVar[str] = "istree"
    n_nodes: int = 16
    protocol: AbstractProtocol = field(default_factory=EulerTour)
    graphs: AbstractGraphs = field(default_factory=HardGraphs)
    n_names: int | None = None
    naming: AbstractNaming = field(default_factory=RandomNames)

    def __post_init__(self) -> None:
        self.graphs.check(self.n_nodes)
        if self.num_names < self.n_nodes:
            raise ConfigError(
                f"IsTree needs a name for each of its {self.n_nodes} vertices, got n_names = {self.n_names}; "
                f"choose n_names >= {self.n_nodes} or fewer vertices."
            )

    @classmethod
    def configured(
        cls, *, n: int, protocol: str, graphs: str = "hard", naming: str = "random", **unknown: Any
    ) -> "IsTree":
        """IsTree by name: which `graphs` (hard, trees, near) and which `naming` of smaller ones (random, first).

        Raises:
            ConfigError: an unknown name or option, or an n that is too small for the graphs.
        """
        for option in unknown:
            lookup({"graphs": graphs, "naming": naming}, option, what="option of istree")
        return cls(
            n_nodes=n,
            protocol=lookup(PROTOCOLS, protocol, what="protocol of istree"),
            graphs=lookup(GRAPHS, graphs, what="kind of graphs")(),
            naming=lookup(NAMINGS, naming, what="naming")(),
        )

    @property
    def num_names(self) -> int:
        """How many vertices the vocabulary names."""
        return self.n_nodes if self.n_names is None else self.n_names

    @property
    def vocab(self) -> Vocab:
        """Symbols, then the vertices 1..n_names; the same for all protocols."""
        return number_vocab(self.num_names)

    @property
    def size(self) -> int:
        """The number of vertices."""
        return self.n_nodes

    @property
    def max_length(self) -> int:
        """`<s>`, three tokens an edge, `<d>`, and the longest target."""
        return 3 * self.graphs.max_edges(self.n_nodes) + 2 + self.protocol.max_target(self.n_nodes)

    @property
    def answer_tokens(self) -> tuple[str, ...]:
        """YES and NO."""
        return (YES, NO)

    @property
    def uses_search(self) -> bool:
        """Whether the protocol asks queries."""
        return self.protocol.uses_search

    @property
    def chance(self) -> float:
        """The share of the commoner answer."""
        return float(max(self.graphs.share_of_trees, 1 - self.graphs.share_of_trees))

    @property
    def lower_bound_bits(self) -> float:
        """What the graphs demand; the proofs are in `tasks.graphs`."""
        return self.graphs.lower_bound_bits(self.n_nodes)

    def at_size(self, n: int) -> "IsTree":
        """Graphs of n vertices, named from the same vocabulary.

        Raises:
            ConfigError: the graphs cannot have n vertices, or the vocabulary has fewer names.
        """
        return replace(self, n_nodes=n, n_names=self.num_names)

    def batch(self, keys: UInt64[np.ndarray, " b"]) -> Batch:
        """The graphs that `keys` stand for, with their targets."""
        edges, num_edges = self.draw_edges(keys)
        return self.write(keys, edges, num_edges=num_edges, n_nodes=self.n_nodes)

    def example(self, key: int) -> Example:
        """The graph that one key stands for."""
        keys = np.array([key], dtype=np.uint64)
        edges, num_edges = self.draw_edges(keys)
        batch = self.write(keys, edges, num_edges=num_edges, n_nodes=self.n_nodes)
        return example_of_row(batch, self.vocab, row=0, problem={"edges": edges[0, : num_edges[0]].tolist()})

    def example_of(self, edges: Iterable[Edge]) -> Example:
        """A graph of the caller's own, of any number of vertices that the vocabulary can name.

        Raises:
            InputError: no simple graph on the names of the vocabulary with vertex 1 among its vertices.
        """
        listed = [(int(u), int(v)) for u, v in edges]
        check_edges(listed, n_names=self.num_names)
        array = np.array([listed], dtype=np.int64)
        num_edges = np.array([len(listed)], dtype=np.int64)
        batch = self.write(np.zeros(1, np.uint64), array, num_edges=num_edges, n_nodes=len(np.unique(array)))
        return example_of_row(batch, self.vocab, row=0, problem={"edges": array[0].tolist()})

    def draw_edges(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Edges, Int64[np.ndarray, " b"]]:
        """For each key the edges in the order of the prompt (0 past the last one), and how many they are."""
        edges, num_edges = self.graphs.draw(keys, self.n_nodes)
        names = self.naming.draw(keys, self.n_nodes, self.num_names)
        return present(keys, edges, num_edges=num_edges, names=names), num_edges

    def write(
        self, keys: UInt64[np.ndarray, " b"], edges: Edges, *, num_edges: Int64[np.ndarray, " b"], n_nodes: int
    ) -> Batch:
        """The rows for graphs of `n_nodes` vertices each, given in the order of the prompt."""
        width = 3 * edges.shape[1] + 2 + self.protocol.max_target(n_nodes)
        tokens, loss_mask, prompt_lengths, lengths = write_rows(
            edges, num_edges, n_nodes, self.num_names, self.protocol.shown, width
        )
        longest = int(lengths.max(initial=0))
        return Batch(
            tokens=tokens[:, :longest],
            loss_mask=loss_mask[:, :longest],
            prompt_lengths=prompt_lengths,
            lengths=lengths,
            answers=tokens[np.arange(len(keys)), lengths - 1],
            keys=keys,
        )

    def solve(self, problem: dict[str, Any]) -> str:
        """The answer by definition, from `Example.problem`; it walks no graph and writes no trace.

        >>> IsTree().solve({"edges": [[1, 2], [3, 2]]})
        'YES'
        """
        edges = problem["edges"]
        return YES if is_tree(edges, len({vertex for edge in edges for vertex in edge})) else NO

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """The query `v -` (parent), `v ~` (first edge) or `v ~ w` (next edge).

        Raises:
            QueryError: the tokens have none of these forms.
        """
        match tokens:
            case (v, "-") if self.is_vertex(v):
                return Parent(v)
            case (v, "~") if self.is_vertex(v):
                return FirstEdge(v)
            case (v, "~", w) if self.is_vertex(v) and self.is_vertex(w):
                return NextEdge(v, after=w)
        raise QueryError(
            f"IsTree asks `v {RECORD}`, `v {EDGE}` or `v {EDGE} w` with vertices v and w, "
            f"got `{' '.join(tokens)}`; train on RetrievalTour to write such queries."
        )

    def is_vertex(self, token: str) -> bool:
        """Whether the token names a vertex."""
        return token in self.vocab and self.vocab.id_of(token) > FAILED_ID
