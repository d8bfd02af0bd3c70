import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.games.families import family_of, right_answer
from recherche.tasks import Index, IsTree, Recall
from recherche.tasks.base import AbstractTask


@pytest.mark.parametrize("task", [Index(n=5, n_symbols=3), IsTree(n_nodes=7)], ids=["lists", "stars"])
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


def test_a_task_without_a_family_is_refused() -> None:
    with pytest.raises(ConfigError, match="Index and IsTree, not of Recall"):
        family_of(Recall(n=6))


def test_an_answer_to_another_task_is_refused() -> None:
    with pytest.raises(ConfigError, match="no family of texts of Recall"):
        right_answer(Recall(n=6), ("<s>", "1"))


def test_texts_are_what_a_model_of_the_task_reads() -> None:
    task, stars = Index(n=4, n_symbols=3), IsTree(n_nodes=6)
    text = task.vocab.decode(family_of(task).text(np.array([2, 0, 1, 1])))
    assert text == ("<s>", "3", "1", "2", "2")
    text = stars.vocab.decode(family_of(stars).text(np.array([1, 0, 1])))
    assert " ".join(text) == "<s> 1 ~ 5 2 ~ 6 3 ~ 5 4 ~ 6"
