"""`bench data`: batches of retrieval traces against a straightforward generator of the same traces in plain Python."""

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Line, compare
from recherche.tasks import IsTree, RetrievalTour, draw_keys
from recherche.vocab import BEGIN, END_OF_DATA, END_SEARCH, FAILED, NO, START_SEARCH, YES

N_NODES = 64
BATCH_SIZE = 256
N_BATCHES = 40  # a turn as long as the reference's, so that a busy machine disturbs both alike
ROWS_IN_PYTHON = 32

Edge = tuple[int, int]


def first_end(edges: list[Edge], v: int, start: int = 0) -> int:
    """The other end of the first edge at v from place `start` on, 0 if there is none."""
    return next((a + b - v for a, b in edges[start:] if v in (a, b)), 0)


def next_end(edges: list[Edge], v: int, after: int) -> int:
    """The other end of the first edge at v after the edge {after, v}."""
    place = next(i for i, edge in enumerate(edges) if set(edge) == {after, v})
    return first_end(edges, v, place + 1)


def token(vertex: int) -> str:
    """The name of a vertex, FAILED for none."""
    return str(vertex) if vertex else FAILED


def trace(edges: list[Edge], n_nodes: int) -> tuple[list[str], list[int]]:
    """Target and loss mask, written search by search as the grammar says."""
    target: list[str] = []
    mask: list[int] = []

    def write(*tokens: str) -> None:
        target.extend(tokens)
        mask.extend([1] * len(tokens))

    def search(found: int, *query: str) -> int:
        write(START_SEARCH, *query, END_SEARCH)
        target.append(token(found))
        mask.append(0)
        return found

    parents: dict[int, int] = {}
    v = 1
    u = search(first_end(edges, v), token(v), "~")
    while True:
        if u and u == parents.get(v):
            u = search(next_end(edges, v, u), token(v), "~", token(u))
        if u:
            if search(parents.get(u, 0), token(u), "-") or u == 1:
                write(NO)
                return target, mask
            write(token(v), "-", token(u))
            parents[u] = v
            v = u
            u = search(first_end(edges, v), token(v), "~")
        elif v == 1:
            write(YES if len(parents) == n_nodes - 1 else NO)
            return target, mask
        else:
            child, v = v, parents[v]
            search(parents.get(v, 0), token(v), "-")
            u = search(next_end(edges, v, child), token(v), "~", token(child))


def draw_hard_graph(generator: np.random.Generator, n_nodes: int) -> list[Edge]:
    """Two hubs and one more edge, renamed, turned and shuffled."""
    names = [int(name) for name in generator.permutation(n_nodes) + 1]
    spokes = n_nodes - 2
    edges = [(a, spokes + int(bit)) for a, bit in enumerate(generator.integers(0, 2, spokes))]
    k = int(generator.integers(0, spokes - 1))
    edges.append((k, k + 1))
    edges = [(names[a], names[b]) for a, b in edges]
    turned = [
        edge if side else edge[::-1] for edge, side in zip(edges, generator.integers(0, 2, len(edges)), strict=True)
    ]
    return [turned[i] for i in generator.permutation(len(turned))]


def python_rows(count: int, seed: int) -> list[tuple[list[int], list[int]]]:
    """Rows of ids and loss masks, one after the other."""
    generator = np.random.default_rng(seed)
    vocab = IsTree(n_nodes=N_NODES).vocab
    rows = []
    for _ in range(count):
        edges = draw_hard_graph(generator, N_NODES)
        prompt = [BEGIN, *(word for u, v in edges for word in (str(u), "~", str(v))), END_OF_DATA]
        target, mask = trace(edges, N_NODES)
        rows.append((vocab.encode(prompt + target).tolist(), [0] * len(prompt) + mask))
    return rows


def check_same_traces(task: IsTree) -> None:
    """Both sides write the same text for the same graphs."""
    for key in range(20):
        example = task.example(key)
        target, mask = trace([(u, v) for u, v in example.problem["edges"]], task.n_nodes)
        assert (tuple(target), tuple(mask)) == (example.target, example.loss_mask), key


def lines() -> Iterator[Line]:
    """Examples per second at n = 64 on one core."""
    task = IsTree(n_nodes=N_NODES, protocol=RetrievalTour())
    check_same_traces(task)
    generator = np.random.default_rng(0)

    def ours() -> float:
        return float(sum(len(task.batch(draw_keys(generator, BATCH_SIZE)).tokens) for _ in range(N_BATCHES)))

    def reference() -> float:
        return float(len(python_rows(ROWS_IN_PYTHON, seed=1)))

    rates = compare(ours, reference)
    yield Line.from_rates("retrieval-traces", rates, reference_name="plain Python", unit="examples/s", n=N_NODES)
