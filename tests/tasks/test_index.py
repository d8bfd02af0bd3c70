from math import log2

import numpy as np
import pytest

from recherche import queries
from recherche.errors import ConfigError
from recherche.tasks.index import Index


def test_every_position_is_asked_and_every_token_drawn():
    task = Index(n=5, n_symbols=3)
    problems = [task.example(key).problem for key in range(200)]
    assert {problem["position"] for problem in problems} == {1, 2, 3, 4, 5}
    assert {token for problem in problems for token in problem["tokens"]} == {1, 2, 3}


def test_positions_and_tokens_share_the_numbers():
    assert Index(n=5, n_symbols=3).num_numbers == 5
    assert Index(n=5, n_symbols=9).num_numbers == 9
    assert Index(n=16).at_size(4).num_symbols == 16


def test_a_position_is_asked_of_a_text_that_starts_with_a_control_token():
    assert Index(n=5).read_query(("2",)) == queries.Index(3)


def test_the_bound_counts_lists():
    assert Index(n=10, n_symbols=2).lower_bound_bits == 10
    assert Index(n=16).lower_bound_bits == 16 * log2(16)


def test_answers_are_uniform():
    task = Index(n=4, n_symbols=2)
    answers = task.batch(np.arange(4000, dtype=np.uint64)).answers
    assert abs(np.mean(answers == task.vocab.id_of("1")) - task.chance) < 0.03


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "at least one token, got n = 0"),
        ({"n": 4, "n_symbols": 1}, "at least 2 different tokens, got 1; set n_symbols"),
        ({"n": 9, "n_symbols": 2, "n_numbers": 8}, "Index needs 9 numbers, got n_numbers = 8; raise it"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Index(**options)
