from random import Random

import numpy as np
import pytest

from recherche.retrieval import index as index_module
from recherche.retrieval.index import DISTANCES, HIDDEN, TokenIndex, pair_key


def pairs(tokens: list[int], distance: int) -> dict[tuple[int, int], list[int]]:
    """Where each pair of shown tokens at a distance begins, by looking."""
    found: dict[tuple[int, int], list[int]] = {}
    for place in range(len(tokens) - distance):
        first, second = tokens[place], tokens[place + distance]
        if first != HIDDEN and second != HIDDEN:
            found.setdefault((first, second), []).append(place)
    return found


def grow(random: Random, index: TokenIndex, tokens: list[int], parts: int) -> None:
    for _ in range(parts):
        if random.random() < 0.1:
            index.append_hidden()
            tokens.append(HIDDEN)
        part = [random.randrange(4) for _ in range(random.choice((1, 1, 2, 3, 20)))]
        index.append(np.array(part) if random.random() < 0.3 else part)
        tokens += part


@pytest.mark.parametrize("tail_tokens", [2, 7, 2048])
def test_positions_are_those_that_looking_finds(monkeypatch, tail_tokens: int):
    monkeypatch.setattr(index_module, "_TAIL_TOKENS", tail_tokens)
    monkeypatch.setattr(index_module, "_FORK_TOKENS", 3)
    random = Random(tail_tokens)
    index, tokens = TokenIndex(), list[int]()
    for _ in range(25):
        grow(random, index, tokens, parts=4)
        index = index.fork() if random.random() < 0.3 else index
        assert len(index) == len(tokens)
        for distance in DISTANCES:
            known = pairs(tokens, distance)
            for first in range(6):
                for second in [first] if distance == 0 else range(5):
                    runs = index.positions(distance, pair_key(first, second) if distance else first)
                    assert [int(place) for run in runs for place in run] == known.get((first, second), [])
        begin, end = sorted(random.choices(range(len(tokens) + 1), k=2))
        assert index.tokens(begin, end) == tokens[begin:end]
        assert index.is_clear(begin, end) == (HIDDEN not in tokens[begin:end])
        assert [index.token(place) for place in range(len(tokens))] == tokens == index.flat().tolist()


def test_a_fork_and_its_parent_grow_apart():
    parent = TokenIndex()
    parent.append(list(range(10)))
    child = parent.fork()
    parent.append([1])
    child.append_hidden()
    child.append([2])
    assert parent.tokens(9, 11) == [9, 1]
    assert child.tokens(9, 12) == [9, HIDDEN, 2]
    assert (parent.hidden, child.hidden) == ([], [10])


def test_many_tokens_need_few_layers(monkeypatch):
    monkeypatch.setattr(index_module, "_TAIL_TOKENS", 4)
    index = TokenIndex()
    for token in range(5_000):
        index.append([token])
    assert len(index._layers) <= 3 * 7
    assert index.token(4_321) == 4_321


def test_sparse_and_dense_tokens_are_found_alike():
    index = TokenIndex()
    index.append([10**6, 3] * 2_000)
    assert [len(run) for run in index.positions(0, 10**6)] == [2_000]
    assert index.positions(0, 4) == index.positions(0, 2 * 10**6) == []
