from itertools import pairwise, permutations
from math import log2

import pytest

from recherche.errors import ConfigError
from recherche.queries import AR
from recherche.tasks.recall import Recall


def states_needed(lists: list[tuple[int, ...]]) -> int:
    """Lists of which any two have different right answers to a question that both may be asked, chosen greedily."""
    chosen: list[dict[int, int]] = []
    for tokens in lists:
        follows = dict(pairwise(tokens))
        if all(any(other.get(q, a) != a for q, a in follows.items()) for other in chosen):
            chosen.append(follows)
    return len(chosen)


@pytest.mark.parametrize(("n", "n_numbers"), [(3, 3), (4, 4), (5, 5), (3, 5)])
def test_lists_that_start_alike_need_states_of_their_own(n, n_numbers):
    starting_with_1 = [tokens for tokens in permutations(range(1, n_numbers + 1), n) if tokens[0] == 1]
    assert log2(states_needed(starting_with_1)) == pytest.approx(Recall(n=n, n_numbers=n_numbers).lower_bound_bits)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_circles_are_enough_where_every_token_occurs(n):
    assert log2(states_needed(list(permutations(range(1, n + 1))))) == pytest.approx(Recall(n=n).lower_bound_bits)


def test_tokens_differ_and_the_last_is_never_asked_for():
    for key in range(100):
        problem = Recall(n=5, n_numbers=7).example(key).problem
        assert len(set(problem["tokens"])) == 5
        assert problem["query"] in problem["tokens"][:-1]


def test_the_answer_is_never_the_question_and_else_uniform():
    task = Recall(n=3)
    answers = [(task.example(key).prompt[-1], task.example(key).answer) for key in range(900)]
    assert all(q != a for q, a in answers)
    of_one = [a for q, a in answers if q == "1"]
    assert abs(of_one.count("2") / len(of_one) - task.chance) < 0.1


def test_a_key_is_asked_for():
    assert Recall(n=5).read_query(("4",)) == AR("4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "a token and one after it, got n = 1"),
        ({"n": 5, "n_numbers": 4}, "5 different tokens, got n_numbers = 4"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Recall(**options)
