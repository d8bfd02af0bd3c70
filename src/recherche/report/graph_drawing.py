"""Where to draw the vertices of a small graph, so that its shape can be seen.

The skeleton of a component, its vertices with more than one neighbour, is laid out by stress majorisation: the places
x that minimise

    sum over i < j of  w_ij (|x_i - x_j| - d_ij)^2,    w_ij = 1 / d_ij^2,

d_ij being the length of the shortest path between i and j. The leaves then stand on a ring around their vertex, each in
the widest free sector; a ring is as large as its leaves need, and an edge as long as the rings at its ends. So a star
is a wheel, two bridged stars are two wheels with an axle, and no edge to a leaf crosses another at its vertex.
Components stand side by side, each turned so that its longest extent lies flat.

Reference: Gansner, Koren & North (2004), Graph Drawing by Stress Majorization, https://doi.org/10.1007/978-3-540-31843-9_25
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, pi, sin
from typing import final

import numpy as np
from jaxtyping import Float

UNIT = 46.0
MARGIN = 20.0
LEAF_SPACING = 0.68
NUM_ROUNDS = 150
Neighbours = dict[int, set[int]]
Places = dict[int, tuple[float, float]]


@final
@dataclass(frozen=True, slots=True)
class Vertex:
    """A vertex and its place."""

    name: int
    x: float
    y: float


@final
@dataclass(frozen=True, slots=True)
class Segment:
    """An edge, by its index in the list of edges, with its two ends."""

    index: int
    start: Vertex
    end: Vertex


@final
@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph on a plane of `width` x `height`."""

    width: float
    height: float
    vertices: tuple[Vertex, ...]
    segments: tuple[Segment, ...]


def draw_graph(edges: Sequence[tuple[int, int]], *, n_nodes: int = 0) -> Drawing:
    """Places for the vertices 1..n_nodes and any other end of an edge; the same graph is always drawn the same way."""
    names = sorted({*range(1, n_nodes + 1), *(end for edge in edges for end in edge)})
    neighbours: Neighbours = {name: set() for name in names}
    for u, v in edges:
        if u != v:
            neighbours[u].add(v)
            neighbours[v].add(u)
    layouts = [_component_layout(component, neighbours) for component in _components(neighbours)]
    places, width, height = _side_by_side(sorted(layouts, key=len, reverse=True))
    vertices = {name: Vertex(name, round(x, 1), round(y, 1)) for name, (x, y) in places.items()}
    return Drawing(
        width=round(width, 1),
        height=round(height, 1),
        vertices=tuple(vertices[name] for name in names),
        segments=tuple(Segment(i, vertices[u], vertices[v]) for i, (u, v) in enumerate(edges)),
    )


def _components(neighbours: Neighbours) -> list[list[int]]:
    left, components = dict.fromkeys(neighbours), []
    while left:
        component = [next(iter(left))]
        for u in component:
            left.pop(u, None)
            component += [v for v in sorted(neighbours[u]) if v in left and v not in component]
        components.append(component)
    return components


def _component_layout(component: list[int], neighbours: Neighbours) -> Places:
    """Places of one component, in units of the shortest edge, its longest extent flat."""
    skeleton = [name for name in component if len(neighbours[name]) > 1] or component[:1]
    inner = set(skeleton)
    leaves = {name: sorted(neighbours[name] - inner) for name in skeleton}
    radius = {name: max(1.0, len(neighbours[name]) * LEAF_SPACING / (2 * pi)) for name in skeleton}
    ring = {name: radius[name] if leaves[name] else 0.0 for name in skeleton}
    lengths = {(u, v): max(1.0, ring[u] + ring[v]) for u in skeleton for v in neighbours[u] if v in inner}
    coordinates = _majorise(_shortest_paths(skeleton, lengths))
    places: Places = {name: (x, y) for name, (x, y) in zip(skeleton, coordinates.tolist(), strict=True)}
    for hub in skeleton:
        x, y = places[hub]
        taken = sorted((atan2(places[v][1] - y, places[v][0] - x), v) for v in neighbours[hub] & inner)
        angles = _free_angles(_sectors(taken, neighbours), len(leaves[hub]))
        places |= {
            leaf: (x + radius[hub] * cos(angle), y + radius[hub] * sin(angle))
            for leaf, angle in zip(leaves[hub], angles, strict=True)
        }
    return places


def _shortest_paths(names: list[int], lengths: dict[tuple[int, int], float]) -> Float[np.ndarray, "n n"]:
    """Floyd and Warshall's distances."""
    index = {name: i for i, name in enumerate(names)}
    distances = np.full((len(names), len(names)), np.inf)
    np.fill_diagonal(distances, 0.0)
    for (u, v), length in lengths.items():
        distances[index[u], index[v]] = length
    for k in range(len(names)):
        distances = np.minimum(distances, distances[:, k, None] + distances[None, k])
    return distances


def _majorise(distances: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n 2"]:
    """Guttman's transform, again and again: each round solves a quadratic that lies above the stress and touches it."""
    n = len(distances)
    places = _principal_coordinates(distances)
    weights = 1 / (distances + np.eye(n)) ** 2 * (1 - np.eye(n))
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(NUM_ROUNDS):
        gaps = np.linalg.norm(places[:, None] - places[None], axis=-1)
        ratios = weights * distances / np.where(gaps > 1e-9, gaps, np.inf)
        places = inverse @ (np.diag(ratios.sum(axis=1)) - ratios) @ places
    _, _, axes = np.linalg.svd(places - places.mean(axis=0), full_matrices=False) if n > 1 else (0, 0, np.eye(2))
    return places @ axes.T


def _principal_coordinates(distances: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n 2"]:
    """The start: classical scaling, a plane that keeps most of the squared distances, turned so that none coincide."""
    n = len(distances)
    centring = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ distances**2 @ centring)
    plane = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    angles = 2 * pi * np.arange(n) / n
    padded = np.zeros((n, 2))
    padded[:, : plane.shape[1]] = plane
    return padded + 1e-2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _sectors(taken: Sequence[tuple[float, int]], neighbours: Neighbours) -> list[tuple[float, float]]:
    """Start and width of the sectors between the inner neighbours of a vertex, without those that an edge closes."""
    if not taken:
        return []
    sectors: list[tuple[float, float]] = []
    closed: list[tuple[float, float]] = []
    for (start, u), (end, v) in zip(taken, [*taken[1:], taken[0]], strict=True):
        width = (end - start) % (2 * pi) or 2 * pi
        (closed if v in neighbours[u] and width < pi else sectors).append((start, width))
    return sectors or closed


def _free_angles(sectors: Sequence[tuple[float, float]], count: int) -> list[float]:
    """`count` directions, each new one where the sectors are widest; a full turn if there are no sectors."""
    if not sectors:
        return [2 * pi * i / count for i in range(count)]
    shares = [0] * len(sectors)
    for _ in range(count):
        widest = max(range(len(sectors)), key=lambda i: sectors[i][1] / (shares[i] + 1))
        shares[widest] += 1
    return [
        start + width * (i + 1) / (share + 1)
        for (start, width), share in zip(sectors, shares, strict=True)
        for i in range(share)
    ]


def _side_by_side(layouts: Sequence[Places]) -> tuple[Places, float, float]:
    """All components in one row, centred on one line, in pixels; and the width and height that they need."""
    heights = [UNIT * (max(y for _, y in places.values()) - min(y for _, y in places.values())) for places in layouts]
    tallest = max(heights, default=0.0)
    placed: Places = {}
    left = MARGIN
    for places, height in zip(layouts, heights, strict=True):
        low_x, low_y = min(x for x, _ in places.values()), min(y for _, y in places.values())
        top = MARGIN + (tallest - height) / 2
        placed |= {name: (left + UNIT * (x - low_x), top + UNIT * (y - low_y)) for name, (x, y) in places.items()}
        left += UNIT * (max(x for x, _ in places.values()) - low_x) + UNIT
    return placed, max(left - UNIT, MARGIN) + MARGIN, tallest + 2 * MARGIN
