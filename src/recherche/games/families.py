"""Texts as functions of free symbols, such that any two of them are told apart by a question.

    text(x_1 .. x_m)   an opening, then for each place i the segment that stands for x_i there; x_i is one of k values
    ask(x_1 .. x_i)    the question whose right answer says what x_{i+1} is, given the symbols before it

Two texts that differ first at place i get different right answers to ask(x_1 .. x_{i-1}), which is the same for both.
Texts with common first symbols share the work of reading them.

    task      a segment                                 the question about it
    index     a token                                   its position
    recall    c a b  or  c b a, c the smallest          c
    cgram     a gram of its own, then the value         the gram
    mqar      a key of its own, then the value          the key
    counting  i i  or  i z                              i, more than once?
    copying   a token                                   <d> and the copy of what came before it
    istree    v ~ hub n - 1  or  v ~ hub n; 1 ~ n - 1   the edge v - 1 ~ v <d>, a tree iff their hubs differ

Reference: Wen, Dang & Lyu (2024), proofs of Theorems 4.6 and 4.7, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, product
from math import log2
from types import MappingProxyType
from typing import Any, final

import numpy as np
from jaxtyping import Int

from recherche.errors import CertificateError, ConfigError
from recherche.tasks import MQAR, CGram, Copying, Counting, Index, IsTree, Recall
from recherche.tasks.base import AbstractTask
from recherche.tasks.number_task import AbstractNumberTask
from recherche.vocab import BEGIN, END_OF_DATA

Symbols = Int[np.ndarray, " m"]
Ids = Int[np.ndarray, " t"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The texts of one task at one n, in token ids.

    Attributes:
        opening: what every text begins with.
        segments: what stands at each place for each value of its symbol.
        ask: the question about the place that follows some symbols, which are given.
    """

    opening: Ids
    segments: Int[np.ndarray, "m k j"]
    ask: Callable[[Symbols], Ids]

    @property
    def length(self) -> int:
        """m, number of symbols of a text."""
        return self.segments.shape[0]

    @property
    def num_symbols(self) -> int:
        """k, number of values of a symbol, which are 0 .. k - 1."""
        return self.segments.shape[1]

    @property
    def bits(self) -> float:
        """Bits that tell the texts apart, m log2 k: any two of them must end in different states."""
        return self.length * log2(self.num_symbols)

    def text(self, symbols: Symbols) -> Ids:
        """Token ids of a whole text."""
        return np.concatenate([self.opening, self.segments[np.arange(self.length), symbols].ravel()])

    def symbols(self, text: Ids) -> Symbols:
        """The symbols of a text.

        Raises:
            CertificateError: it is no text of the family.
        """
        m, _, j = self.segments.shape
        start = len(self.opening)
        if len(text) != start + m * j:
            raise CertificateError(f"A text of the family has {start + m * j} tokens, this one has {len(text)}.")
        equal = (self.segments == text[start:].reshape(m, 1, j)).all(axis=2)
        if not (text[:start] == self.opening).all() or not equal.any(axis=1).all():
            raise CertificateError("The text is none of the family: a token of it cannot stand where it does.")
        return equal.argmax(axis=1)

    def question(self, one: Symbols, other: Symbols) -> Ids:
        """Token ids of a question that has different right answers for two different texts."""
        return self.ask(one[: int(np.flatnonzero(one != other)[0])])


def family_of(task: AbstractTask) -> Family:
    """The texts of a task.

    Raises:
        ConfigError: the task has no family of texts here, or none of this size.
    """
    if type(task) not in _FAMILIES:
        names = ", ".join(kind.__name__ for kind in _FAMILIES)
        raise ConfigError(f"Collisions are searched among the texts of {names}, not of {type(task).__name__}.")
    family = _FAMILIES[type(task)](task)
    if family.length < 1 or family.num_symbols < 2:
        raise ConfigError(f"{type(task).__name__} of size {task.size} has no two texts to tell apart; raise n.")
    return family


def right_answer(task: AbstractTask, tokens: tuple[str, ...]) -> str:
    """The answer to a text with its question, by the task's own definition.

    Raises:
        ConfigError: the task has no family of texts here.
    """
    if isinstance(task, IsTree):
        ends = [int(token) for token in tokens if token not in (BEGIN, "~", END_OF_DATA)]
        return task.solve({"edges": [list(edge) for edge in zip(ends[::2], ends[1::2], strict=True)]})
    if type(task) in _FAMILIES and isinstance(task, AbstractNumberTask):
        return task.solve(task.read_prompt(tokens))
    raise ConfigError(f"There is no family of texts of {type(task).__name__}.")


def _number_ids(task: AbstractTask, numbers: Any) -> np.ndarray:
    """Ids of numbers, in an array of any shape."""
    return task.vocab.id_of("1") - 1 + np.asarray(numbers, dtype=np.int64)


def _opening(task: AbstractTask, numbers: Any = ()) -> Ids:
    return np.concatenate([task.vocab.encode([BEGIN]), _number_ids(task, numbers)])


def _index(task: Index) -> Family:
    values = np.arange(1, task.num_symbols + 1)[None, :, None]
    return Family(
        opening=_opening(task),
        segments=_number_ids(task, np.broadcast_to(values, (task.n, task.num_symbols, 1))),
        ask=lambda before: _number_ids(task, [len(before) + 1]),
    )


def _recall(task: Recall) -> Family:
    first = 3 * np.arange(task.n // 3)[:, None, None] + 1
    return Family(
        opening=_opening(task, np.arange(task.n // 3 * 3, task.n) + 1),
        segments=_number_ids(task, first + np.array([[0, 1, 2], [0, 2, 1]])),
        ask=lambda before: _number_ids(task, [3 * len(before) + 1]),
    )


def _cgram(task: CGram) -> Family:
    """Numbers 1 .. g make grams, the others are values; g is chosen for the largest number of texts."""
    v, room = task.num_numbers, task.n // task.c
    g = max(range(1, v), key=lambda g: min(room, g ** (task.c - 1)) * log2(v - g))
    grams = 1 + np.array(list(islice(product(range(g), repeat=task.c - 1), room)))
    values = np.arange(g + 1, v + 1)
    segments = np.empty((len(grams), len(values), task.c), dtype=np.int64)
    segments[:, :, :-1], segments[:, :, -1] = grams[:, None], values
    return Family(
        opening=_opening(task, np.full(task.n - len(grams) * task.c, v)),
        segments=_number_ids(task, segments),
        ask=lambda before: _number_ids(task, grams[len(before)]),
    )


def _mqar(task: MQAR) -> Family:
    n_keys, n_values, _ = task.ranges
    segments = np.empty((task.pairs, n_values, 2), dtype=np.int64)
    segments[:, :, 0], segments[:, :, 1] = 1 + np.arange(task.pairs)[:, None], n_keys + 1 + np.arange(n_values)
    return Family(
        opening=_opening(task),
        segments=_number_ids(task, segments),
        ask=lambda before: _number_ids(task, [len(before) + 1]),
    )


def _counting(task: Counting) -> Family:
    m = min(task.n // 2, task.num_symbols - 1)
    counted = np.arange(1, m + 1)
    segments = np.stack([counted, counted, counted, np.full(m, m + 1)], axis=1).reshape(m, 2, 2)
    return Family(
        opening=_opening(task, np.full(task.n - 2 * m, m + 1)),
        segments=_number_ids(task, segments),
        ask=lambda before: _number_ids(task, [len(before) + 1, 1]),
    )


def _copying(task: Copying) -> Family:
    if task.gram:
        raise ConfigError("Collisions of Copying are searched with gram = 0, the whole list; for grams choose CGram.")
    values = np.arange(1, task.num_numbers + 1)[None, :, None]
    begin = task.vocab.encode([END_OF_DATA])
    return Family(
        opening=_opening(task),
        segments=_number_ids(task, np.broadcast_to(values, (task.n, task.num_numbers, 1))),
        ask=lambda before: np.concatenate([begin, _number_ids(task, before + 1)]),
    )


def _is_tree(task: IsTree) -> Family:
    """Two stars; vertex 1 hangs on hub n - 1."""
    hubs, sign = [task.n_nodes - 1, task.n_nodes], int(task.vocab.id_of("~"))
    segments = np.full((task.n_nodes - 3, 2, 3), sign)
    segments[:, :, 0] = _number_ids(task, 2 + np.arange(task.n_nodes - 3))[:, None]
    segments[:, :, 2] = _number_ids(task, hubs)
    return Family(
        opening=task.vocab.encode([BEGIN, "1", "~", str(hubs[0])]),
        segments=segments,
        ask=lambda before: task.vocab.encode([str(len(before) + 1), "~", str(len(before) + 2), END_OF_DATA]),
    )


_FAMILIES: MappingProxyType[type[AbstractTask], Callable[[Any], Family]] = MappingProxyType(
    {
        Index: _index,
        Recall: _recall,
        CGram: _cgram,
        MQAR: _mqar,
        Counting: _counting,
        Copying: _copying,
        IsTree: _is_tree,
    }
)
