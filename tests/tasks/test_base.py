"""The contract of every task, run over the whole table."""

from itertools import pairwise

import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.tasks import TASKS
from recherche.tasks.base import MOST_TOKENS, MOST_TOKENS_VARIABLE, affordable, draw_keys
from recherche.vocab import END_SEARCH, START_SEARCH

KEYS = np.array([0, 1, 2, 2**63, 2**64 - 1], dtype=np.uint64)
PROTOCOLS = ("direct", "cot", "retrieval")


def known(name: str, protocol: str) -> bool:
    try:
        TASKS[name].configured(n=12, protocol=protocol)
    except ConfigError:
        return False
    return True


CASES = [(name, protocol) for name in TASKS for protocol in PROTOCOLS if known(name, protocol)]


@pytest.fixture(params=CASES, ids=["-".join(case) for case in CASES])
def task(request):
    name, protocol = request.param
    return TASKS[name].configured(n=12, protocol=protocol)


def test_the_same_generator_draws_the_same_keys():
    first, second = np.random.default_rng(3), np.random.default_rng(3)
    assert draw_keys(first, 4).tolist() == draw_keys(second, 4).tolist()
    assert draw_keys(first, 4).dtype == np.uint64


def test_keys_are_drawn_one_by_one():
    together, apart = np.random.default_rng(3), np.random.default_rng(3)
    expected = draw_keys(together, 3).tolist()
    assert [int(draw_keys(apart, 1)[0]) for _ in range(3)] == expected


def test_an_example_alone_is_its_row_in_a_batch(task):
    batch = task.batch(KEYS)
    for row, key in enumerate(KEYS):
        example = task.example(int(key))
        start, stop = batch.prompt_lengths[row], batch.lengths[row]
        assert task.vocab.decode(batch.tokens[row, :start]) == example.prompt
        assert task.vocab.decode(batch.tokens[row, start:stop]) == example.target
        assert batch.loss_mask[row, start:stop].tolist() == [bool(shown) for shown in example.loss_mask]
        assert not batch.loss_mask[row, stop:].any()
        assert not batch.tokens[row, stop:].any()
        assert task.vocab.decode(batch.answers[row : row + 1]) == (example.answer,) == example.target[-1:]
    assert batch.tokens.shape[1] == batch.lengths.max() <= task.max_length
    assert (batch.keys == KEYS).all()


def own_words(target: tuple[str, ...]) -> list[str]:
    """What the model writes outside of queries."""
    words: list[str] = []
    in_query = False
    for before, token in pairwise(("", *target)):
        in_query = token == START_SEARCH or (in_query and before != END_SEARCH)
        words += [] if in_query or before == END_SEARCH else [token]
    return words


def test_own_words_leave_out_queries_and_results():
    assert own_words(("1", START_SEARCH, "2", END_SEARCH, "3", "4")) == ["1", "4"]


def test_every_answer_is_that_of_the_definition_and_ends_the_text(task):
    for key in range(60):
        example = task.example(key)
        assert task.solve(example.problem) == example.answer == example.target[-1]
        assert example.answer in task.answer_tokens
        assert not set(task.answer_tokens) & set(own_words(example.target[:-1]))


def test_retrieved_tokens_and_no_others_are_free_of_loss(task):
    for key in range(20):
        example = task.example(key)
        after_search = [token == END_SEARCH for token in ("", *example.target[:-1])]
        assert list(example.loss_mask) == [int(not found) for found in after_search]
        assert task.uses_search == (END_SEARCH in example.target)


def test_a_batch_depends_on_its_generator_alone(task):
    """The global generator has no say."""
    np.random.seed(1)
    first = task.sample_batch(np.random.default_rng(5), 6).tokens
    np.random.seed(2)
    assert (task.sample_batch(np.random.default_rng(5), 6).tokens == first).all()
    assert task.sample_batch(np.random.default_rng(6), 6).tokens.tolist() != first.tolist()


def test_rows_do_not_depend_on_their_neighbours(task):
    assert (task.batch(KEYS).tokens[::-1] == task.batch(KEYS[::-1].copy()).tokens).all()


def test_a_smaller_size_keeps_the_vocabulary(task):
    smaller = task.at_size(8)
    assert smaller.size == 8
    assert smaller.vocab == task.vocab
    assert smaller.max_length <= task.max_length
    assert smaller.batch(KEYS).lengths.max() <= smaller.max_length
    with pytest.raises(ConfigError):
        task.at_size(0)


def test_a_task_is_its_own_configuration(task):
    assert task == type(task).configured(n=12, protocol=task.protocol.name)
    assert hash(task) == hash(type(task).configured(n=12, protocol=task.protocol.name))


def test_the_best_blind_guess_is_as_good_as_chance_says(task):
    batch = task.batch(np.arange(3000, dtype=np.uint64))
    commonest = np.bincount(batch.answers).max() / len(batch.answers)
    assert 0 < task.chance <= 1
    assert commonest < task.chance + 0.03


def test_the_bound_grows_with_n_or_stays(task):
    bounds = [task.at_size(n).lower_bound_bits for n in (8, 10, 12)]
    assert bounds == sorted(bounds)
    assert bounds[0] > 0


@pytest.mark.parametrize("name", TASKS)
def test_a_text_that_is_too_large_is_refused_before_it_is_drawn(name, monkeypatch):
    monkeypatch.delenv(MOST_TOKENS_VARIABLE, raising=False)
    small, large = (TASKS[name].configured(n=n, protocol="direct") for n in (12, 10**9))
    assert affordable(small) is small
    with pytest.raises(ConfigError, match=f"at most {MOST_TOKENS:,} are drawn; choose a smaller size, or set"):
        affordable(large)
    monkeypatch.setenv(MOST_TOKENS_VARIABLE, str(10**10))
    assert affordable(large) is large
    monkeypatch.setenv(MOST_TOKENS_VARIABLE, "many")
    with pytest.raises(ConfigError, match="is a number of tokens"):
        affordable(small)
