from itertools import combinations_with_replacement
from math import comb, log2

import networkx
import pytest

from recherche.errors import ConfigError
from recherche.queries import Count
from recherche.tasks.counting import Counting
from recherche.tasks.protocols import WorkedAnswer


def test_the_count_is_at_the_threshold():
    task = Counting(n=6, n_symbols=3)
    seen = set()
    for key in range(300):
        example = task.example(key)
        problem = example.problem
        above = problem["tokens"].count(problem["value"]) - problem["threshold"]
        assert above == (example.answer == "YES")
        seen.add((problem["value"], problem["threshold"], above))
    assert seen == {(value, threshold, above) for value in (1, 2, 3) for threshold in (1, 2, 3) for above in (0, 1)}


@pytest.mark.parametrize(("n", "n_symbols"), [(3, 2), (3, 3), (4, 3), (5, 4)])
def test_no_more_lists_than_the_truth_are_counted(n, n_symbols):
    """The bound against the largest set of multisets that any two questions at the threshold tell apart."""
    multisets = list(combinations_with_replacement(range(n_symbols), n))
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(multisets)))
    for i, a in enumerate(multisets):
        for j, b in enumerate(multisets[:i]):
            counts = [sorted((a.count(v), b.count(v))) for v in range(n_symbols)]
            if any(high == low + 1 and 1 <= low <= n // 2 for low, high in counts):
                graph.add_edge(i, j)
    largest = max(len(clique) for clique in networkx.find_cliques(graph))
    assert 0 < Counting(n=n, n_symbols=n_symbols).lower_bound_bits <= log2(largest)


def test_the_bound_is_linear_in_n():
    assert Counting(n=12, n_symbols=12).lower_bound_bits == pytest.approx(log2(84))
    assert Counting(n=256).lower_bound_bits > 160


@pytest.mark.parametrize("n_symbols", [2, 9])
def test_a_chain_of_thought_writes_the_positions_in_order(n_symbols):
    task = Counting.configured(n=9, protocol="cot", n_symbols=n_symbols)
    for key in range(100):
        example = task.example(key)
        tokens, value = example.problem["tokens"], example.problem["value"]
        places = [str(i) for i, token in enumerate(tokens, start=1) if token == value]
        assert example.target == (*places, example.answer)
        assert all(example.loss_mask)


def test_a_value_and_a_threshold_are_asked_for():
    assert Counting(n=8).read_query(("7", "2")) == Count("7", 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "at least 2 tokens, got n = 1"),
        ({"n": 8, "n_symbols": 1}, "at least 2 different tokens, got 1"),
        ({"n": 20, "n_symbols": 2, "n_numbers": 9}, "Counting needs 10 numbers, got n_numbers = 9"),
        ({"n": 20, "n_numbers": 19, "protocol": WorkedAnswer()}, "Counting needs 20 numbers, got n_numbers = 19"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Counting(**options)


@pytest.mark.parametrize("n_symbols", [2, 3, 7, 40])
def test_the_bound_is_the_largest_binomial_of_its_definition(n_symbols):
    for n in range(3, 40):
        pairs = ((k, j) for k in range(1, min(n, n_symbols) + 1) for j in range(k + 1))
        largest = max(comb(k, j) for k, j in pairs if k + j == n or (k + j < n and k < n_symbols))
        assert Counting(n=n, n_symbols=n_symbols).lower_bound_bits == pytest.approx(log2(largest), abs=1e-12)
