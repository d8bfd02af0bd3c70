import numpy as np
import pytest

from recherche.errors import ConfigError, InputError, QueryError
from recherche.queries import FirstEdge, NextEdge, Parent
from recherche.tasks import PROTOCOLS, Direct, EulerTour, FirstNames, IsTree, NearTrees, RandomTrees, RetrievalTour

KEYS = np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64)
GOLDEN = [
    (0, "<s> 5 ~ 1 3 ~ 2 6 ~ 2 4 ~ 1 3 ~ 4 <d>", "1 5 1 4 3 2 6 2 3 4 1 YES"),
    (1, "<s> 5 ~ 6 4 ~ 5 1 ~ 2 3 ~ 1 3 ~ 2 <d>", "1 2 3 NO"),
    (2**64 - 1, "<s> 6 ~ 4 2 ~ 1 1 ~ 4 5 ~ 3 1 ~ 6 <d>", "1 2 1 4 6 NO"),
]


@pytest.mark.parametrize(("key", "prompt", "target"), GOLDEN, ids=["first", "second", "last"])
def test_a_key_stands_for_the_same_graph_for_ever(key, prompt, target):
    example = IsTree(n_nodes=6, protocol=EulerTour()).example(key)
    assert " ".join(example.prompt) == prompt
    assert " ".join(example.target) == target


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_an_example_alone_is_its_row_in_a_batch(protocol):
    task = IsTree(n_nodes=7, protocol=protocol, graphs=NearTrees())
    batch = task.batch(KEYS)
    for row, key in enumerate(KEYS):
        example = task.example(int(key))
        start, stop = batch.prompt_lengths[row], batch.lengths[row]
        assert task.vocab.decode(batch.tokens[row, :start]) == example.prompt
        assert task.vocab.decode(batch.tokens[row, start:stop]) == example.target
        assert batch.loss_mask[row, start:stop].tolist() == [bool(x) for x in example.loss_mask]
        assert not batch.loss_mask[row, :start].any()
        assert not batch.loss_mask[row, stop:].any()
        assert not batch.tokens[row, stop:].any()
        assert task.vocab.decode(batch.answers[row : row + 1]) == (example.answer,) == example.target[-1:]
    assert batch.tokens.shape[1] == batch.lengths.max() <= task.max_length


def test_the_order_of_keys_is_the_order_of_rows():
    task = IsTree(n_nodes=5)
    assert (task.batch(KEYS).tokens[::-1] == task.batch(KEYS[::-1].copy()).tokens).all()


def test_a_batch_without_rows_is_empty():
    batch = IsTree(n_nodes=5).batch(np.empty(0, np.uint64))
    assert batch.tokens.shape == (0, 0)


def test_the_problem_is_the_prompt():
    example = IsTree(n_nodes=6).example(3)
    edges = " ".join(f"{u} ~ {v}" for u, v in example.problem["edges"])
    assert " ".join(example.prompt) == f"<s> {edges} <d>"


def test_half_of_the_hard_graphs_are_trees():
    batch = IsTree(n_nodes=16, protocol=Direct()).sample_batch(np.random.default_rng(0), 4000)
    share = np.mean(batch.answers == IsTree().vocab.id_of("YES"))
    assert abs(share - 0.5) < 0.03


def test_a_smaller_size_keeps_the_vocabulary_and_its_names():
    task = IsTree(n_nodes=16, protocol=Direct()).at_size(5)
    assert task.vocab == IsTree(n_nodes=16).vocab
    assert task.size == 5
    tokens = task.sample_batch(np.random.default_rng(0), 300).tokens
    assert set(np.unique(tokens)) >= {task.vocab.id_of(str(v)) for v in range(1, 17)}


def test_first_names_keep_to_the_first():
    task = IsTree(n_nodes=16, protocol=Direct(), naming=FirstNames()).at_size(5)
    tokens = task.sample_batch(np.random.default_rng(0), 300).tokens
    assert tokens.max() == task.vocab.id_of("5")


def test_the_graph_of_a_key_does_not_depend_on_the_protocol():
    prompts = {IsTree(n_nodes=8, protocol=protocol).example(4).prompt for protocol in PROTOCOLS.values()}
    assert len(prompts) == 1


@pytest.mark.parametrize(
    ("edges", "answer"),
    [
        ([(1, 2)], "YES"),
        ([(3, 1), (2, 1), (1, 4)], "YES"),
        ([(1, 2), (3, 4)], "NO"),
        ([(1, 2), (2, 3), (1, 3), (1, 4), (2, 4), (3, 4)], "NO"),
    ],
    ids=["an edge", "a star", "two parts", "all edges"],
)
@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_a_graph_of_ones_own_is_answered(edges, answer, protocol):
    task = IsTree(n_nodes=16, protocol=protocol)
    example = task.example_of(edges)
    assert example.answer == answer == task.solve(example.problem)
    assert example.problem == {"edges": [list(edge) for edge in edges]}


def test_a_graph_outside_the_vocabulary_is_refused():
    with pytest.raises(InputError, match=r"vocabulary 1..4, got vertex 5"):
        IsTree(n_nodes=4).example_of([(1, 5)])


def test_queries_are_read_as_they_are_written():
    task = IsTree(n_nodes=4)
    assert task.read_query(("2", "-")) == Parent("2")
    assert task.read_query(("2", "~")) == FirstEdge("2")
    assert task.read_query(("2", "~", "4")) == NextEdge("2", after="4")


@pytest.mark.parametrize(
    "tokens", [(), ("2",), ("-", "2"), ("5", "-"), ("2", "~", "~"), ("2", "~", "3", "4"), ("<s>", "~")]
)
def test_what_is_no_query_is_refused(tokens):
    with pytest.raises(QueryError, match=r"IsTree asks `v -`, `v ~` or `v ~ w` with vertices v and w, got"):
        IsTree(n_nodes=4).read_query(tokens)


def test_only_searching_protocols_say_so():
    assert [IsTree(protocol=protocol).uses_search for protocol in (Direct(), EulerTour(), RetrievalTour())] == [0, 0, 1]
    assert IsTree().answer_tokens == ("YES", "NO")


def test_impossible_sizes_are_refused():
    assert IsTree(n_nodes=3, graphs=RandomTrees()).size == 3
    with pytest.raises(ConfigError, match="HardGraphs need at least 4 vertices, got 3"):
        IsTree(n_nodes=3)
    with pytest.raises(ConfigError, match="a name for each of its 8 vertices, got n_names = 4; choose n_names >= 8"):
        IsTree(n_nodes=8, n_names=4)
    with pytest.raises(ConfigError, match="needs a name for each of its 9 vertices"):
        IsTree(n_nodes=8).at_size(9)
