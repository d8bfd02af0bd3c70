import networkx
import numpy as np
import pytest

from recherche.queries import FirstEdge, NextEdge, Parent, Query
from recherche.tasks import GRAPHS, PROTOCOLS, EulerTour, IsTree, RetrievalTour
from recherche.vocab import END_SEARCH, FAILED, START_SEARCH

KINDS = [pytest.param(kind(), id=name) for name, kind in GRAPHS.items()]
SIZES = [4, 5, 9]


def examples(graphs, n_nodes, protocol, count=30):
    task = IsTree(n_nodes=n_nodes, protocol=protocol, graphs=graphs, n_names=n_nodes + 3)
    return task, [task.example(key) for key in range(count)]


def slow_tour(edges: list[list[int]], n_nodes: int) -> list[str]:
    neighbours: dict[int, list[int]] = {1: []}
    for u, v in edges:
        neighbours.setdefault(u, []).append(v)
        neighbours.setdefault(v, []).append(u)
    tour: list[int] = []

    def visit(v: int, parent: int) -> bool:
        tour.append(v)
        for u in neighbours[v]:
            if u == parent:
                continue
            if u in tour or not visit(u, v):
                return False
            tour.append(v)
        return True

    acyclic = visit(1, 0)
    yes = acyclic and len(edges) == n_nodes - 1 and len(tour) == 2 * n_nodes - 1
    return [*map(str, tour), "YES" if yes else "NO"]


@pytest.mark.parametrize("graphs", KINDS)
@pytest.mark.parametrize("n_nodes", SIZES)
def test_tours_are_those_of_a_recursive_search(graphs, n_nodes):
    for example in examples(graphs, n_nodes, EulerTour())[1]:
        assert list(example.target) == slow_tour(example.problem["edges"], n_nodes)


def execute(query: Query, text: list[str]) -> str:
    """What `query` finds in a text without earlier queries, by definition."""
    triples = list(zip(text, text[1:], text[2:], strict=False))
    if isinstance(query, Parent):
        found = [a for a, sign, b in triples if sign == "-" and b == query.child]
    elif isinstance(query, FirstEdge):
        found = [b if a == query.vertex else a for a, sign, b in triples if sign == "~" and query.vertex in (a, b)]
    elif isinstance(query, NextEdge):
        at = [set(edge) for edge in edges_of(text) if query.vertex in edge]
        later = at[at.index({query.vertex, query.after}) + 1 :]
        found = [next(iter(edge - {query.vertex})) for edge in later]
    else:
        raise AssertionError(query)
    return found[0] if found else FAILED


def edges_of(text: list[str]) -> list[tuple[str, str]]:
    return [(a, b) for a, sign, b in zip(text, text[1:], text[2:], strict=False) if sign == "~"]


class Controller:
    """Follows the grammar of the module docstring; all that it knows about the graph are search results."""

    def __init__(self, task: IsTree, prompt: tuple[str, ...]) -> None:
        self.task, self.text, self.written = task, list(prompt), []
        self.mask: list[int] = []

    def search(self, *query: str) -> str:
        found = execute(self.task.read_query(query), self.text)
        self.written += [START_SEARCH, *query, END_SEARCH, found]
        self.mask += [1] * (len(query) + 2) + [0]
        self.text += ["<masked>", found]
        return found

    def write(self, *tokens: str) -> None:
        self.written += tokens
        self.text += tokens
        self.mask += [1] * len(tokens)

    def run(self) -> None:
        v, parent, num_records = "1", FAILED, 0
        u = self.search(v, "~")
        while True:
            if u != FAILED and u == parent:
                u = self.search(v, "~", parent)
            if u != FAILED:
                if self.search(u, "-") != FAILED or u == "1":
                    return self.write("NO")
                self.write(v, "-", u)
                num_records += 1
                v, parent = u, v
                u = self.search(v, "~")
            elif v == "1":
                return self.write("YES" if num_records == self.task.n_nodes - 1 else "NO")
            else:
                child, v = v, parent
                parent = self.search(v, "-")
                u = self.search(v, "~", child)


@pytest.mark.parametrize("graphs", KINDS)
@pytest.mark.parametrize("n_nodes", SIZES)
def test_searches_alone_reproduce_the_retrieval_trace(graphs, n_nodes):
    task, drawn = examples(graphs, n_nodes, RetrievalTour())
    for example in drawn:
        controller = Controller(task, example.prompt)
        controller.run()
        assert controller.written == list(example.target)
        assert controller.mask == list(example.loss_mask)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
@pytest.mark.parametrize("graphs", KINDS)
@pytest.mark.parametrize("n_nodes", [4, 16])
def test_every_answer_is_that_of_networkx(graphs, n_nodes, protocol):
    for example in examples(graphs, n_nodes, protocol)[1]:
        oracle = networkx.Graph(example.problem["edges"])
        assert (example.answer == "YES") == (networkx.is_tree(oracle) and len(oracle) == n_nodes)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
@pytest.mark.parametrize("graphs", KINDS)
def test_no_target_is_longer_than_stated_and_every_tree_in_searches_is_as_long(graphs, protocol):
    for n_nodes in SIZES:
        for example in examples(graphs, n_nodes, protocol)[1]:
            assert len(example.target) <= protocol.max_target(n_nodes)
            if example.answer == "YES":
                assert len(example.target) == protocol.max_target(n_nodes)


@pytest.mark.parametrize("graphs", KINDS)
def test_a_thousand_vertices_are_walked(graphs):
    task = IsTree(n_nodes=1024, protocol=RetrievalTour(), graphs=graphs)
    batch = task.batch(np.arange(4, dtype=np.uint64))
    assert batch.tokens.shape[1] <= task.max_length
    assert batch.tokens.max() == task.vocab.id_of("1024")
    answers = [task.solve({"edges": edges[:m].tolist()}) for edges, m in zip(*task.draw_edges(batch.keys), strict=True)]
    assert list(task.vocab.decode(batch.answers)) == answers
