"""What all tasks on numbers do: options by name, batches, and searches that the retriever itself can run."""

import numpy as np
import pytest

from recherche.errors import ConfigError, QueryError
from recherche.retrieval import Retriever
from recherche.tasks import TASKS, Recall
from recherche.tasks.number_task import prompts_of, refuse_query, require
from recherche.vocab import END_SEARCH, FAILED, START_SEARCH

NUMBER_TASKS = {name: task for name, task in TASKS.items() if name != "istree"}
SEARCHING = {name: task for name, task in NUMBER_TASKS.items() if "retrieval" in task.protocols}


@pytest.mark.parametrize("name", SEARCHING)
def test_the_retriever_finds_what_the_target_says(name):
    task = SEARCHING[name].configured(n=12, protocol="retrieval")
    results = set()
    for key in range(60):
        example = task.example(key)
        start, *query, end, found, answer = example.target
        assert (start, end) == (START_SEARCH, END_SEARCH)
        got = Retriever().context(list(example.prompt)).query(task.read_query(tuple(query)))
        assert (got.tokens or [FAILED]) == [found]
        assert answer == example.answer
        results.add(found == FAILED)
    assert results == ({True, False} if name == "counting" else {False})


@pytest.mark.parametrize("name", NUMBER_TASKS)
def test_nonsense_is_no_query(name):
    task = NUMBER_TASKS[name].configured(n=12, protocol="direct")
    with pytest.raises(QueryError, match=rf"{name} asks .*, got `<s> NO`"):
        task.read_query(("<s>", "NO"))
    with pytest.raises(QueryError, match=rf"{name} asks "):
        task.read_query(())


@pytest.mark.parametrize("name", NUMBER_TASKS)
def test_the_key_of_a_task_is_its_name_in_the_table(name):
    assert NUMBER_TASKS[name].key == name


def test_options_are_fields():
    task = Recall.configured(n=4, protocol="retrieval", n_numbers=9)
    assert (task.n, task.n_numbers, task.uses_search) == (4, 9, True)
    assert task.answer_tokens == tuple(map(str, range(1, 10)))
    assert task.is_number("9")
    assert not task.is_number("10")
    assert not task.is_number("FAILED")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"protocol": "cot"}, "no protocol of recall 'cot'; .*Choose from: direct, retrieval"),
        ({"protocol": "direct", "n_number": 9}, "no option of recall 'n_number'; did you mean n_numbers"),
        ({"protocol": "direct", "n_numbers": "many"}, "option n_numbers of recall is an integer, got 'many'"),
    ],
)
def test_wrong_options_are_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        Recall.configured(n=4, **words)


def test_prompts_begin_and_join_their_parts():
    prompts = prompts_of(np.array([[5, 6], [7, 8]]), np.array([[9], [9]]))
    assert prompts.tokens.tolist() == [[0, 5, 6, 9], [0, 7, 8, 9]]
    assert prompts.lengths.tolist() == [4, 4]


def test_requirements_and_refusals_say_what_was_found():
    require(True, "unused")
    with pytest.raises(ConfigError, match="n = 1 is too small"):
        require(False, "n = 1 is too small")
    assert str(refuse_query("recall", ("a", "b"), form="for one token")).startswith(
        "recall asks for one token, got `a b`"
    )
