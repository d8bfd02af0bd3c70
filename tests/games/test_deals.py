"""Every dealt text with every question is a problem of the task, and the dealt answer is the right one."""

from collections import Counter

import numpy as np
import pytest

from recherche.errors import ConfigError, VocabError
from recherche.games.deals import Deal, deal
from recherche.tasks import MQAR, Averaging, CGram, Copying, Counting, Index, IsTree, Recall, SearchAnswer
from recherche.tasks.base import AbstractTask
from recherche.vocab import Vocab

TASKS = [
    Index(n=9, n_symbols=4),
    Index(n=5, n_symbols=2),
    Recall(n=9),
    Recall(n=11, n_numbers=14),
    CGram(n=10, c=2),
    CGram(n=13, c=3, n_numbers=6),
    MQAR(n=16),
    Counting(n=8),
    Counting(n=9, n_symbols=5),
    Copying(n=6),
    IsTree(n_nodes=7),
]
IDS = [f"{type(task).__name__}-{task.size}-{i}" for i, task in enumerate(TASKS)]


def dealt(task: AbstractTask, num_texts: int = 40, seed: int = 0) -> Deal:
    return deal(task, np.random.default_rng(seed), num_texts)


def solve(task: AbstractTask, prompt: tuple[str, ...]) -> str:
    """The oracle of the task itself, on the prompt as a model would meet it."""
    if isinstance(task, IsTree):
        ends = [int(token) for token in prompt[1:-1] if token != "~"]
        return task.solve({"edges": [[u, v] for u, v in zip(ends[::2], ends[1::2], strict=True)]})
    return task.solve(task.read_prompt(prompt))


@pytest.mark.parametrize("task", TASKS, ids=IDS)
def test_dealt_answers_are_right(task: AbstractTask) -> None:
    game = dealt(task)
    for text, questions, answers in zip(game.texts, game.questions, game.answers, strict=True):
        for question, symbols in zip(questions, answers, strict=True):
            for place, symbol in enumerate(symbols):
                prompt = task.vocab.decode(np.concatenate([text, question, symbols[:place]]))
                assert solve(task, prompt) == task.vocab.tokens[symbol], prompt


@pytest.mark.parametrize("task", TASKS, ids=IDS)
def test_symbols_are_uniform_and_pairwise_independent(task: AbstractTask) -> None:
    """Answers as indices among the values each question can have; counts of pairs within five standard deviations."""
    num_texts = 4000
    game = dealt(task, num_texts)
    symbols = game.answers.reshape(num_texts, -1)
    if isinstance(task, Recall):
        order = np.sort(game.texts[:, 1 : 1 + 3 * symbols.shape[1]].reshape(num_texts, -1, 3)[:, :, 1:], axis=2)
        symbols = (symbols == order[:, :, 1]).astype(int)
    k = game.num_symbols
    if isinstance(task, CGram):
        assert len(np.unique(symbols)) == task.num_numbers
        return
    values = np.unique(symbols)
    assert len(values) == k
    first, second = np.searchsorted(values, symbols[:, 0]), np.searchsorted(values, symbols[:, -1])
    counts = Counter(zip(first.tolist(), second.tolist(), strict=True))
    cells = [counts[a, b] for a in range(k) for b in range(k)] if symbols.shape[1] > 1 else []
    expected = num_texts / k**2
    assert all(abs(count - expected) < 5 * expected**0.5 for count in cells)


def test_the_same_seed_deals_the_same() -> None:
    one, again, other = (dealt(Counting(n=8), seed=seed).texts for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Averaging(n=8), "There is no game for Averaging"),
        (Index(n=8, protocol=SearchAnswer()), "keeps the whole text"),
        (Copying(n=8, gram=2), "gram = 0"),
        (Recall(n=2), "n >= 3"),
        (CGram(n=4, n_numbers=2), "at least 3 numbers"),
        (IsTree(n_nodes=4), "n >= 5"),
    ],
    ids=["no game", "search", "grams", "short recall", "few numbers", "few vertices"],
)
def test_what_cannot_be_dealt_is_refused(task: AbstractTask, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        dealt(task)


def test_a_round_can_be_told_in_the_words_of_another_vocabulary() -> None:
    task = Index(n=6, n_symbols=3)
    spoken, other = dealt(task), Vocab(("6", "5", "4", "3", "2", "1", "<s>"))
    told = spoken.translated(task.vocab, other)
    assert other.decode(told.texts[0]) == task.vocab.decode(spoken.texts[0])
    assert other.decode(told.questions[0, :, 0]) == task.vocab.decode(spoken.questions[0, :, 0])
    assert (told.length, told.num_symbols) == (spoken.length, 3) == (9, 3)
    with pytest.raises(VocabError):
        spoken.translated(task.vocab, Vocab(("<s>", "1", "2", "3")))
