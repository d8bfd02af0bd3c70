"""Graphs as text files: one edge `u v` per line, `#` starts a comment, names are any words.

Names are mapped to the vertices 1, 2, 3, ... in order of first use; so the first name of the file is vertex 1, where
every walk starts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from recherche._files import write_text
from recherche.errors import InputError

Edge = tuple[int, int]


@final
@dataclass(frozen=True, slots=True)
class EdgeList:
    """A graph as read from a file; `names[v - 1]` is what the file calls vertex v."""

    edges: tuple[Edge, ...]
    names: tuple[str, ...]


def check_edges(edges: Sequence[Edge], *, n_names: int) -> None:
    """Refuse what is no simple graph on the names 1..n_names with vertex 1 among its vertices.

    Raises:
        InputError: there is no edge, a self loop, a repeated edge, a vertex outside the vocabulary, or no vertex 1.
    """
    if not edges:
        raise InputError("A graph needs at least one edge, got none; give lines `u v`.")
    seen: set[frozenset[int]] = set()
    for u, v in edges:
        for vertex in (u, v):
            if not 1 <= vertex <= n_names:
                raise InputError(
                    f"The vertices must lie in the vocabulary 1..{n_names}, got vertex {vertex} in edge {u} {v}; "
                    "rename the vertices or use a model with more names."
                )
        if u == v:
            raise InputError(f"An edge joins two different vertices, got the self loop {u} {v}; remove it.")
        if frozenset((u, v)) in seen:
            raise InputError(f"Every edge may be listed once, but {u} {v} is repeated; remove the copies.")
        seen.add(frozenset((u, v)))
    if all(1 not in edge for edge in edges):
        raise InputError(
            f"The walk starts at vertex 1, which none of the {len(edges)} edges has; rename a vertex to 1."
        )


def parse_edge_list(lines: Iterable[str], *, source: str) -> EdgeList:
    """The graph that the lines of a file describe.

    Args:
        source: what error messages call the file.

    Raises:
        InputError: a line that is no edge, a self loop or a repeated edge (with its line number), or no edge at all.

    >>> parse_edge_list(["# a path", "b a", "a c"], source="path.edgelist")
    EdgeList(edges=((1, 2), (2, 3)), names=('b', 'a', 'c'))
    """
    vertex_of: dict[str, int] = {}
    line_of: dict[frozenset[int], int] = {}
    edges: list[Edge] = []
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{source}, line {number}"
        if len(words) != 2:
            raise InputError(f"{where}: expected two names `u v`, got {line.strip()!r}; write one edge per line.")
        if words[0] == words[1]:
            raise InputError(
                f"{where}: an edge joins two different vertices, got the self loop {line.strip()!r}; remove it."
            )
        u, v = (vertex_of.setdefault(word, len(vertex_of) + 1) for word in words)
        pair = frozenset((u, v))
        if pair in line_of:
            raise InputError(
                f"{where}: the edge {line.strip()!r} is repeated, first seen on line {line_of[pair]}; remove one."
            )
        line_of[pair] = number
        edges.append((u, v))
    if not edges:
        raise InputError(f"{source}: expected edges `u v`, one per line, found none; add at least one.")
    return EdgeList(tuple(edges), tuple(vertex_of))


def read_edge_list(path: Path) -> EdgeList:
    """The graph in a file.

    Raises:
        InputError: the file cannot be read, or its content is no graph (see `parse_edge_list`).
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"Cannot read the graph file {path}: {error}; give a text file with one edge `u v` per line."
        ) from error
    return parse_edge_list(text.splitlines(), source=str(path))


def write_edge_list(path: Path, edges: Iterable[Edge], *, names: Sequence[str] = ()) -> None:
    """Write a graph; without `names`, vertices are written as their numbers. The file appears whole or not at all."""
    text = "".join(f"{names[u - 1] if names else u} {names[v - 1] if names else v}\n" for u, v in edges)
    write_text(path, text)
