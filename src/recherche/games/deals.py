"""What is dealt in a game: texts for Alice, questions for Bob, and the right answers, whose symbols are independent.

Every task that the paper bounds contains Index in this sense: its texts can be written so that each question asks for
one symbol of its own, uniform on k values and independent of all others given what both players know (positions, keys,
names of vertices: public randomness, drawn afresh for each text). So the errors of Bob add up to bits (`information`).

    index     x_1 .. x_n                   position i                         x_i
    recall    c a b  or  c b a, 3 tokens   c                                  the token after it
    cgram     gram value, c tokens         the gram                           the value
    mqar      key value, 2 tokens          the key                            the value
    counting  i i  or  i z, 2 tokens       i, more than once?                 YES or NO
    copying   x_1 .. x_n                   write the list                     x_1 .. x_n, one after the other
    istree    u ~ hub or u ~ other hub     the edge u_k ~ u_{k+1}: a tree?    YES iff they hang on different hubs

Reference: Wen, Dang & Lyu (2024), proofs of Theorems 4.6 and 4.7, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any, final

import numpy as np
from jaxtyping import Int

from recherche.errors import ConfigError
from recherche.tasks import MQAR, CGram, Copying, Counting, Index, IsTree, Recall
from recherche.tasks.base import AbstractTask
from recherche.vocab import BEGIN, END_OF_DATA, NO, YES, Vocab

Ids = Int[np.ndarray, "s _"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """A round of the game, in token ids.

    Attributes:
        texts: what Alice reads.
        questions: what Bob may be asked about each text.
        answers: the right answer to each question; several symbols if Bob has to write a list.
        num_symbols: k, how many values a symbol has.
        budget: how many tokens Bob may write before his answer is due.
    """

    texts: Int[np.ndarray, "s t"]
    questions: Int[np.ndarray, "s q j"]
    answers: Int[np.ndarray, "s q a"]
    num_symbols: int
    budget: int = 1

    @property
    def length(self) -> int:
        """Tokens of a text with a question and all that Bob may write."""
        return self.texts.shape[1] + self.questions.shape[2] + self.budget

    def translated(self, vocab: Vocab, other: Vocab) -> "Deal":
        """The same round in the ids of another vocabulary.

        Raises:
            VocabError: the other has no word for a token.
        """
        table = np.zeros(len(vocab), dtype=np.int64)
        for used in np.unique(np.concatenate([part.ravel() for part in (self.texts, self.questions, self.answers)])):
            table[used] = other.id_of(vocab.tokens[used])
        return replace(self, texts=table[self.texts], questions=table[self.questions], answers=table[self.answers])


def deal(task: AbstractTask, generator: np.random.Generator, num_texts: int) -> Deal:
    """Texts and questions for a task.

    Raises:
        ConfigError: there is no game for the task, or its protocol searches the text, which is then part of the memory.
    """
    dealer = _DEALERS.get(type(task))
    if dealer is None:
        games = ", ".join(sorted(kind.__name__ for kind in _DEALERS))
        raise ConfigError(f"There is no game for {type(task).__name__}; choose a run trained on one of {games}.")
    if task.uses_search:
        raise ConfigError(
            f"A model that searches keeps the whole text, so its state is not all that it remembers; "
            f"play with a run of {type(task).__name__} that answers without a search."
        )
    return dealer(task, generator, num_texts)


def _ids(task: AbstractTask, tokens: np.ndarray) -> np.ndarray:
    """Ids of an array of numbers or tokens of any shape."""
    return task.vocab.encode([str(token) for token in tokens.ravel().tolist()]).reshape(tokens.shape)


def _after_begin(task: AbstractTask, tokens: np.ndarray) -> np.ndarray:
    return np.concatenate([np.full((len(tokens), 1), task.vocab.id_of(BEGIN)), _ids(task, tokens)], axis=1)


def _rows_of(generator: np.random.Generator, values: int, s: int) -> np.ndarray:
    """A random order of 1..values for each text."""
    return generator.permuted(np.tile(np.arange(1, values + 1), (s, 1)), axis=1)


def _deal_index(task: Index, generator: np.random.Generator, s: int) -> Deal:
    tokens = generator.integers(1, task.num_symbols + 1, size=(s, task.n))
    positions = np.broadcast_to(np.arange(1, task.n + 1)[None, :, None], (s, task.n, 1))
    return Deal(
        texts=_after_begin(task, tokens),
        questions=_ids(task, positions),
        answers=_ids(task, tokens)[:, :, None],
        num_symbols=task.num_symbols,
    )


def _deal_recall(task: Recall, generator: np.random.Generator, s: int) -> Deal:
    if task.n < 3:
        raise ConfigError(f"The game of Recall needs n >= 3, got {task.n}: a token, and two that may follow it.")
    order = _rows_of(generator, task.num_numbers, s)[:, : task.n]
    blocks = order[:, : task.n // 3 * 3].reshape(s, -1, 3)
    swap = generator.integers(2, size=(s, blocks.shape[1], 1)).astype(bool)
    blocks = np.where(swap, blocks[:, :, [0, 2, 1]], blocks)
    text = np.concatenate([blocks.reshape(s, -1), order[:, blocks.shape[1] * 3 :]], axis=1)
    return Deal(
        texts=_after_begin(task, text),
        questions=_ids(task, blocks[:, :, :1]),
        answers=_ids(task, blocks[:, :, 1:2]),
        num_symbols=2,
    )


def _deal_cgram(task: CGram, generator: np.random.Generator, s: int) -> Deal:
    v, room = task.num_numbers, task.n // task.c
    sizes = [(min(room, k ** (task.c - 1)) * np.log2(v - k), k) for k in range(1, v - 1)]
    if not sizes:
        raise ConfigError(f"The game of CGram needs at least 3 numbers, got {v}: grams, and two values.")
    k = max(sizes)[1]
    names = _rows_of(generator, v, s)
    grams = np.array(list(product(range(k), repeat=task.c - 1)))
    chosen = np.stack([generator.permutation(len(grams))[:room] for _ in range(s)])
    rows = np.arange(s)[:, None, None]
    questions = names[rows, grams[chosen]]
    values = names[np.arange(s)[:, None], k + generator.integers(v - k, size=chosen.shape)]
    blocks = np.concatenate([questions, values[:, :, None]], axis=2).reshape(s, -1)
    filler = names[:, k:][np.arange(s)[:, None], generator.integers(v - k, size=(s, task.n - blocks.shape[1]))]
    return Deal(
        texts=_after_begin(task, np.concatenate([filler, blocks], axis=1)),
        questions=_ids(task, questions),
        answers=_ids(task, values)[:, :, None],
        num_symbols=v - k,
    )


def _deal_mqar(task: MQAR, generator: np.random.Generator, s: int) -> Deal:
    n_keys, n_values, _ = task.ranges
    keys = _rows_of(generator, n_keys, s)[:, : task.pairs]
    values = n_keys + generator.integers(1, n_values + 1, size=keys.shape)
    return Deal(
        texts=_after_begin(task, np.stack([keys, values], axis=2).reshape(s, -1)),
        questions=_ids(task, keys)[:, :, None],
        answers=_ids(task, values)[:, :, None],
        num_symbols=n_values,
    )


def _deal_counting(task: Counting, generator: np.random.Generator, s: int) -> Deal:
    m = min(task.n // 2, task.num_symbols - 1)
    names = _rows_of(generator, task.num_symbols, s)
    counted, rest = names[:, :m], names[:, m : m + 1]
    twice = generator.integers(2, size=(s, m)).astype(bool)
    second = np.where(twice, counted, rest)
    text = np.concatenate([counted, second, np.repeat(rest, task.n - 2 * m, axis=1)], axis=1)
    questions = np.stack([counted, np.ones_like(counted)], axis=2)
    return Deal(
        texts=_after_begin(task, generator.permuted(text, axis=1)),
        questions=_ids(task, questions),
        answers=_ids(task, np.where(twice, YES, NO))[:, :, None],
        num_symbols=2,
    )


def _deal_copying(task: Copying, generator: np.random.Generator, s: int) -> Deal:
    if task.gram:
        raise ConfigError("The game of Copying is played with gram = 0, the whole list; for grams choose a CGram run.")
    tokens = generator.integers(1, task.num_numbers + 1, size=(s, task.n))
    return Deal(
        texts=_after_begin(task, tokens),
        questions=np.full((s, 1, 1), task.vocab.id_of(END_OF_DATA)),
        answers=_ids(task, tokens)[:, None, :],
        num_symbols=task.num_numbers,
        budget=task.n,
    )


def _deal_is_tree(task: IsTree, generator: np.random.Generator, s: int) -> Deal:
    n = task.n_nodes
    if n < 5:
        raise ConfigError(f"The game of IsTree needs n >= 5, got {n}: two hubs and three leaves, one of them spare.")
    names = _rows_of(generator, n, s)
    hub = generator.integers(2, size=(s, n - 2))
    leaves, hubs = names[:, : n - 2], np.take_along_axis(names[:, n - 2 :], hub, axis=1)
    edges = generator.permuted(np.stack([leaves, hubs], axis=2), axis=2)
    edges = np.take_along_axis(edges, generator.permuted(np.tile(np.arange(n - 2), (s, 1)), axis=1)[:, :, None], axis=1)
    signs = np.full((s, n - 2), "~")
    text = np.stack([edges[:, :, 0].astype(str), signs, edges[:, :, 1].astype(str)], axis=2).reshape(s, -1)
    ends = np.stack([leaves[:, :-1], leaves[:, 1:]], axis=2).astype(str)
    questions = np.stack([ends[:, :, 0], signs[:, 1:], ends[:, :, 1], np.full(ends.shape[:2], END_OF_DATA)], axis=2)
    differ = hub[:, :-1] != hub[:, 1:]
    return Deal(
        texts=_after_begin(task, text),
        questions=_ids(task, questions),
        answers=_ids(task, np.where(differ, YES, NO))[:, :, None],
        num_symbols=2,
        budget=2 * task.protocol.max_target(n),
    )


_DEALERS: MappingProxyType[type[AbstractTask], Callable[[Any, np.random.Generator, int], Deal]] = MappingProxyType(
    {
        Index: _deal_index,
        Recall: _deal_recall,
        CGram: _deal_cgram,
        MQAR: _deal_mqar,
        Counting: _deal_counting,
        Copying: _deal_copying,
        IsTree: _deal_is_tree,
    }
)
