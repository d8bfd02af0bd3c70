"""How the answer of IsTree may be worked out: three protocols, each a rendering of the same depth-first search.

    Direct         YES|NO
    EulerTour      v1 ... vk YES|NO: the vertices in the order the walk meets them, down and back (Algorithm 1)
    RetrievalTour  every move of the walk is a search of the text written so far

The answer is YES iff the walk meets no cycle and enters all n vertices. Then m = n - 1, and the tour has 2n - 1
vertices.

Grammar of the retrieval trace. S is <StartSearch>, E is <EndSearch>; the token after E is what the search returns
(FAILED if there is nothing), and all others are the model's own. Three queries are asked:

    S v - E p      Parent(v): p of the first record `p - v` in the trace; FAILED if v has not been entered
    S v ~ E u      FirstEdge(v): the other end of the first edge at v
    S v ~ w E u    NextEdge(v, after=w): the other end of the first edge at v after {w, v}

    enter v        `S v ~ E u`, for the root 1 and after each record `p - v`. If u is the parent p: `S v ~ p E u` again.
                   Now u is the candidate at v.
    candidate u    `S u - E r`. If u is 1 or r is a vertex, u has been visited and is not the parent: a cycle, `NO`.
                   (The root has no record; that 1 is visited is for the model to know.) Else write the record `v - u`
                   and enter u.
    FAILED         v is finished. At the root the walk is over: `YES` or `NO`. Elsewhere go back to the parent p:
                   `S p - E g` (its own parent g, FAILED at the root), `S p ~ v E u`, and if u is g `S p ~ g E u` again.
                   Now u is the candidate at p.

Two edges, 1 ~ 2 and 3 ~ 2, a line of the trace for each move:

    >>> from recherche.tasks import IsTree
    >>> example = IsTree(n_nodes=4, protocol=RetrievalTour()).example_of([(1, 2), (3, 2)])
    >>> " ".join(example.prompt)
    '<s> 1 ~ 2 3 ~ 2 <d>'
    >>> print(" ".join(example.target).replace("<StartSearch>", "S").replace("<EndSearch>", "E"))
    ... # doctest: +NORMALIZE_WHITESPACE
    S 1 ~ E 2 S 2 - E FAILED 1 - 2
    S 2 ~ E 1 S 2 ~ 1 E 3 S 3 - E FAILED 2 - 3
    S 3 ~ E 2 S 3 ~ 2 E FAILED
    S 2 - E 1 S 2 ~ 3 E FAILED
    S 1 - E FAILED S 1 ~ 2 E FAILED
    YES

Algorithm 2 of the paper asks for the parent at every vertex that is met. Here it is asked for only when the walk comes
back: at a first visit the parent stands in the record just written, two tokens before.

Reference: Wen, Dang & Lyu (2024), Algorithms 1 and 2, https://arxiv.org/abs/2402.18510
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, final

import numpy as np
from jaxtyping import Bool, Int64

from recherche.kernels.compiled import compiled
from recherche.kernels.tree_walk import BACK, ENTER, FIRST_EDGE, NEXT_EDGE, PARENT, STEPS_PER_NODE, walk
from recherche.tasks.symbols import (
    BEGIN_ID,
    EDGE_ID,
    END_ID,
    END_OF_DATA_ID,
    FAILED_ID,
    NO_ID,
    RECORD_ID,
    START_ID,
    YES_ID,
)

NOTHING, VERTICES, SEARCHES = range(3)


class AbstractProtocol(ABC):
    """What the model writes between the graph and the answer.

    Attributes:
        name: what the command line calls it.
        shown: what a target shows of the walk: NOTHING, its VERTICES or its SEARCHES.
        uses_search: whether queries are asked.
    """

    name: ClassVar[str]
    shown: ClassVar[int]
    uses_search: ClassVar[bool] = False

    @abstractmethod
    def max_target(self, n_nodes: int) -> int:
        """The most tokens that a target can have."""


@final
@dataclass(frozen=True, slots=True)
class Direct(AbstractProtocol):
    """The answer at once."""

    name: ClassVar[str] = "direct"
    shown: ClassVar[int] = NOTHING

    def max_target(self, n_nodes: int) -> int:
        """One token."""
        return 1


@final
@dataclass(frozen=True, slots=True)
class EulerTour(AbstractProtocol):
    """The tour in vertices: chain of thought without searches."""

    name: ClassVar[str] = "cot"
    shown: ClassVar[int] = VERTICES

    def max_target(self, n_nodes: int) -> int:
        """A full tour and the answer."""
        return 2 * n_nodes


@final
@dataclass(frozen=True, slots=True)
class RetrievalTour(AbstractProtocol):
    """The tour in searches: what is needed is looked up, never remembered."""

    name: ClassVar[str] = "retrieval"
    shown: ClassVar[int] = SEARCHES
    uses_search: ClassVar[bool] = True

    def max_target(self, n_nodes: int) -> int:
        """A tree's trace.

        The root costs its first search (5) and the answer (1). Any other vertex costs 30: it is checked (5), recorded
        (3) and asked for its first edge (5), skips its parent's edge once (6), and when it is finished its parent is
        asked for the grandparent (5) and the next edge (6). A walk that meets a cycle leaves a vertex unfinished.
        """
        return 30 * (n_nodes - 1) + 6


PROTOCOLS = MappingProxyType({protocol.name: protocol for protocol in (Direct(), EulerTour(), RetrievalTour())})

Row = Int64[np.ndarray, " t"]
RowMask = Bool[np.ndarray, " t"]
Edges = Int64[np.ndarray, "b m 2"]


@compiled
def write_rows(
    edges: Edges, num_edges: Int64[np.ndarray, " b"], n_nodes: int, n_names: int, shown: int, width: int
) -> tuple[Int64[np.ndarray, "b t"], Bool[np.ndarray, "b t"], Int64[np.ndarray, " b"], Int64[np.ndarray, " b"]]:
    """Tokens and loss mask of each graph's row, 0 behind its end, and the lengths of its prompt and of the row."""
    n_rows = len(edges)
    tokens, loss_mask = np.empty((n_rows, width), np.int64), np.empty((n_rows, width), np.bool_)
    prompt_lengths, lengths = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    steps = np.empty((STEPS_PER_NODE * n_nodes, 4), np.int64)
    for row in range(n_rows):
        graph = edges[row, : num_edges[row]]
        num_steps, tree = walk(graph, n_nodes, n_names, steps)
        at = prompt_lengths[row] = write_prompt(graph, tokens[row])
        loss_mask[row, :at] = False
        loss_mask[row, at:] = True
        if shown == VERTICES:
            at = write_vertices(steps[:num_steps], tokens[row], at)
        elif shown == SEARCHES:
            at = write_searches(steps[:num_steps], tokens[row], loss_mask[row], at)
        tokens[row, at] = YES_ID if tree else NO_ID
        tokens[row, at + 1 :] = 0
        loss_mask[row, at + 1 :] = False
        lengths[row] = at + 1
    return tokens, loss_mask, prompt_lengths, lengths


@compiled
def write_prompt(graph: Int64[np.ndarray, "m 2"], tokens: Row) -> int:
    """Write `<s> u1 ~ v1 ... um ~ vm <d>`; the place behind it."""
    tokens[0] = BEGIN_ID
    for i in range(len(graph)):
        tokens[3 * i + 1] = FAILED_ID + graph[i, 0]
        tokens[3 * i + 2] = EDGE_ID
        tokens[3 * i + 3] = FAILED_ID + graph[i, 1]
    tokens[3 * len(graph) + 1] = END_OF_DATA_ID
    return 3 * len(graph) + 2


@compiled
def write_vertices(steps: Int64[np.ndarray, "s 4"], tokens: Row, at: int) -> int:
    """Write each vertex as the walk comes to it, from above or from below; the place behind them."""
    for i in range(len(steps)):
        if steps[i, 0] in (ENTER, BACK):
            tokens[at] = FAILED_ID + steps[i, 2]
            at += 1
    return at


@compiled
def write_searches(steps: Int64[np.ndarray, "s 4"], tokens: Row, loss_mask: RowMask, at: int) -> int:
    """Write each search with its result, and a record for each vertex entered; the place behind them."""
    for i in range(len(steps)):
        kind, a, b, found = steps[i]
        if kind == ENTER and a != 0:
            tokens[at] = FAILED_ID + a
            tokens[at + 1] = RECORD_ID
            tokens[at + 2] = FAILED_ID + b
            at += 3
        elif kind in (FIRST_EDGE, NEXT_EDGE, PARENT):
            tokens[at] = START_ID
            tokens[at + 1] = FAILED_ID + a
            tokens[at + 2] = RECORD_ID if kind == PARENT else EDGE_ID
            at += 3
            if kind == NEXT_EDGE:
                tokens[at] = FAILED_ID + b
                at += 1
            tokens[at] = END_ID
            tokens[at + 1] = FAILED_ID + found
            loss_mask[at + 1] = False
            at += 2
    return at
