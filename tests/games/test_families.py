import numpy as np
import pytest

from recherche.errors import CertificateError, ConfigError
from recherche.games.families import family_of, right_answer
from recherche.tasks import MQAR, Averaging, CGram, Copying, Counting, Index, IsTree, Recall
from recherche.tasks.base import AbstractTask

TASKS = [
    Index(n=5, n_symbols=3),
    Recall(n=11),
    CGram(n=8),
    CGram(n=13, c=4, n_numbers=5),
    MQAR(n=24, num_pairs=5, n_keys=6, n_values=3),
    Counting(n=9),
    Counting(n=9, n_symbols=3),
    Copying(n=5, n_numbers=3),
    IsTree(n_nodes=7),
]


def named(task: AbstractTask) -> str:
    return f"{type(task).__name__} {task.size}"


@pytest.mark.parametrize("task", TASKS, ids=named)
def test_any_two_texts_of_a_family_have_a_question(task: AbstractTask) -> None:
    family, rng = family_of(task), np.random.default_rng(0)
    for _ in range(200):
        one, other = rng.integers(family.num_symbols, size=(2, family.length))
        if (one == other).all():
            continue
        question = family.question(one, other)
        answers = {
            right_answer(task, task.vocab.decode(np.concatenate([family.text(s), question]))) for s in (one, other)
        }
        assert len(answers) == 2


@pytest.mark.parametrize("task", TASKS, ids=named)
def test_a_family_is_no_larger_than_the_bound_of_its_task_allows(task: AbstractTask) -> None:
    assert 0 < family_of(task).bits <= task.lower_bound_bits + 1e-9 or isinstance(task, Counting)


@pytest.mark.parametrize("task", TASKS, ids=named)
def test_a_text_is_read_back_as_its_symbols(task: AbstractTask) -> None:
    family, rng = family_of(task), np.random.default_rng(1)
    symbols = rng.integers(family.num_symbols, size=family.length)
    assert (family.symbols(family.text(symbols)) == symbols).all()
    with pytest.raises(CertificateError, match="tokens, this one has"):
        family.symbols(family.text(symbols)[:-1])
    wrong = family.text(symbols)
    wrong[0] += 1
    with pytest.raises(CertificateError, match="cannot stand where it does"):
        family.symbols(wrong)


def test_a_task_without_a_family_is_refused() -> None:
    with pytest.raises(ConfigError, match="IsTree, not of Averaging"):
        family_of(Averaging(n=6))


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Recall(n=2), "raise n"),
        (IsTree.configured(n=3, protocol="direct", graphs="trees"), "raise n"),
        (Copying(n=4, gram=2), "gram = 0"),
    ],
    ids=["too short a list", "too few vertices", "copying from a gram"],
)
def test_a_size_without_two_texts_is_refused(task: AbstractTask, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        family_of(task)


def test_an_answer_to_another_task_is_refused() -> None:
    with pytest.raises(ConfigError, match="no family of texts of Averaging"):
        right_answer(Averaging(n=6), ("<s>", "1"))


@pytest.mark.parametrize(
    ("task", "symbols", "text"),
    [
        (Index(n=4, n_symbols=3), [2, 0, 1, 1], "<s> 3 1 2 2"),
        (Recall(n=7), [0, 1], "<s> 7 1 2 3 4 6 5"),
        (CGram(n=8, n_numbers=5), [1, 0], "<s> 5 5 1 1 4 1 2 3"),
        (MQAR(n=8, num_pairs=2, n_keys=3, n_values=4), [3, 0], "<s> 1 7 2 4"),
        (Counting(n=5), [0, 1], "<s> 3 1 1 2 3"),
        (Copying(n=3), [2, 0, 1], "<s> 3 1 2"),
        (IsTree(n_nodes=6), [1, 0, 1], "<s> 1 ~ 5 2 ~ 6 3 ~ 5 4 ~ 6"),
    ],
    ids=["index", "recall", "cgram", "mqar", "counting", "copying", "istree"],
)
def test_texts_are_what_a_model_of_the_task_reads(task: AbstractTask, symbols: list[int], text: str) -> None:
    assert " ".join(task.vocab.decode(family_of(task).text(np.array(symbols)))) == text
