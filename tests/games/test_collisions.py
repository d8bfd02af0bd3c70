"""Collisions are found exactly where a memory forgets."""

from typing import Any

import numpy as np
import pytest
import torch

from recherche.games.automaton import Automaton
from recherche.games.collisions import end_of, find_collision, is_exhaustive
from recherche.games.families import family_of, right_answer
from recherche.games.quantisers import quantiser_of
from recherche.models.config import LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel
from recherche.tasks import MQAR, CGram, Copying, Counting, Index, IsTree, Recall
from recherche.tasks.base import AbstractTask

FLOAT32 = quantiser_of("float32")


def search(model: Any, task: AbstractTask, quantiser: Any = FLOAT32) -> Any:
    return find_collision(Automaton(model, quantiser), family_of(task), generator=np.random.default_rng(0))


def assert_told_apart(pair: Any, model: Any, task: AbstractTask, quantiser: Any = FLOAT32) -> None:
    family, automaton = family_of(task), Automaton(model, quantiser)
    texts = [family.text(symbols) for symbols in pair]
    assert end_of(automaton, texts[0]) == end_of(automaton, texts[1])
    question = family.question(*pair)
    answers = [right_answer(task, task.vocab.decode(np.concatenate([text, question]))) for text in texts]
    assert answers[0] != answers[1]


@pytest.mark.parametrize(
    ("task", "width"),
    [
        (Index(n=6, n_symbols=2), 4),
        (Index(n=4, n_symbols=3), 3),
        (Index(n=40, n_symbols=2), 20),
        (IsTree(n_nodes=8), 9),
        (IsTree(n_nodes=30), 30),
        (Recall(n=12), 6),
        (CGram(n=9), 6),
        (MQAR(n=16, num_pairs=4, n_values=3), 4),
        (Counting(n=10), 6),
        (Copying(n=4), 3),
        (MQAR(n=120, n_keys=30, n_values=2, n_fillers=2, num_pairs=30), 20),
    ],
    ids=[
        "binary lists, all",
        "ternary lists, all",
        "long lists, a rest of 28",
        "stars, all",
        "large stars",
        "recall",
        "grams",
        "pairs",
        "counts",
        "copies",
        "many pairs",
    ],
)
def test_a_memory_that_forgets_has_a_collision(task: AbstractTask, width: int, last_tokens: Any) -> None:
    model = last_tokens(width)
    assert_told_apart(search(model, task), model, task)


def test_a_mamba_rounded_to_three_bits_has_a_collision() -> None:
    config = LanguageModelConfig(d_model=8, vocab_size=20, layers=(MambaLayer(d_state=2),))
    model = LanguageModel(config, torch.Generator().manual_seed(0)).eval()
    task, quantiser = Index(n=8, n_symbols=2), quantiser_of("r3")
    assert_told_apart(search(model, task, quantiser), model, task, quantiser)


@pytest.mark.parametrize(
    ("task", "width"), [(Index(n=6, n_symbols=2), 6), (IsTree(n_nodes=8), 18)], ids=["lists", "stars"]
)
def test_a_memory_that_holds_everything_has_none(task: AbstractTask, width: int, last_tokens: Any) -> None:
    assert is_exhaustive(family_of(task))
    assert search(last_tokens(width), task) is None


def test_a_large_family_is_not_tried_in_full(last_tokens: Any) -> None:
    task = Index(n=40, n_symbols=2)
    assert not is_exhaustive(family_of(task))
    assert search(last_tokens(40), task) is None
