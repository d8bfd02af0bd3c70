"""Texts as functions of free symbols, such that any two of them are told apart by a question.

    index     symbols x_1 .. x_n: the list itself
              question: the first place that differs
    istree    bits b_2 .. b_{n-2}, and b_1 = 0: vertex v hangs on hub n - 1 or n
              question: the edge v ~ v + 1, which makes a tree iff the hubs of v and v + 1 differ

A text is an opening and one segment of tokens for each symbol, so that texts with common first symbols share the work.

Reference: Wen, Dang & Lyu (2024), proofs of Theorems 4.6 and 4.7, https://arxiv.org/abs/2402.18510
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
from jaxtyping import Int

from recherche.errors import ConfigError
from recherche.tasks import Index, IsTree
from recherche.tasks.base import AbstractTask
from recherche.vocab import BEGIN, END_OF_DATA

Symbols = Int[np.ndarray, " m"]


class AbstractFamily(ABC):
    """The texts of one task at one n."""

    @property
    @abstractmethod
    def num_symbols(self) -> int:
        """Number of values of a symbol, which are 0 .. num_symbols - 1."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Number of symbols of a text."""

    @property
    @abstractmethod
    def opening(self) -> Int[np.ndarray, " t"]:
        """Token ids before the first symbol."""

    @abstractmethod
    def segment(self, place: int, symbols: Int[np.ndarray, " s"]) -> Int[np.ndarray, "s t"]:
        """Token ids that stand for the symbols at `place`, of several texts."""

    @abstractmethod
    def question(self, one: Symbols, other: Symbols) -> Int[np.ndarray, " t"]:
        """Token ids of a question that has different right answers for two different texts."""

    def text(self, symbols: Symbols) -> Int[np.ndarray, " t"]:
        """Token ids of a whole text."""
        segments = [self.segment(place, symbols[place : place + 1])[0] for place in range(self.length)]
        return np.concatenate([self.opening, *segments])


@final
@dataclass(frozen=True, slots=True)
class Lists(AbstractFamily):
    """The lists of Index."""

    task: Index

    @property
    def num_symbols(self) -> int:
        """Different tokens."""
        return self.task.num_symbols

    @property
    def length(self) -> int:
        """Tokens of the list."""
        return self.task.n

    @property
    def opening(self) -> Int[np.ndarray, " t"]:
        """The begin token."""
        return self.task.vocab.encode([BEGIN])

    def segment(self, place: int, symbols: Int[np.ndarray, " s"]) -> Int[np.ndarray, "s t"]:
        """One token."""
        return symbols[:, None] + self.task.vocab.id_of("1")

    def question(self, one: Symbols, other: Symbols) -> Int[np.ndarray, " t"]:
        """The first position that differs."""
        return self.task.vocab.encode([str(1 + int(np.flatnonzero(one != other)[0]))])


@final
@dataclass(frozen=True, slots=True)
class Stars(AbstractFamily):
    """Two stars whose leaves are 1 .. n - 2; vertex 1 hangs on hub n - 1."""

    task: IsTree

    @property
    def num_symbols(self) -> int:
        """The two hubs."""
        return 2

    @property
    def length(self) -> int:
        """Leaves but the first."""
        return self.task.n_nodes - 3

    @property
    def opening(self) -> Int[np.ndarray, " t"]:
        """The begin token and the edge of vertex 1."""
        return self.task.vocab.encode([BEGIN, "1", "~", str(self.task.n_nodes - 1)])

    def segment(self, place: int, symbols: Int[np.ndarray, " s"]) -> Int[np.ndarray, "s t"]:
        """The edge from leaf place + 2 to its hub."""
        leaf, sign, hubs = self.task.vocab.encode([str(place + 2), "~", str(self.task.n_nodes - 1)]).tolist()
        return np.stack([np.full_like(symbols, leaf), np.full_like(symbols, sign), symbols + hubs], axis=1)

    def question(self, one: Symbols, other: Symbols) -> Int[np.ndarray, " t"]:
        """The edge between two neighbouring leaves that share a hub in one text and not in the other."""
        changes = [np.diff(np.concatenate([[0], bits])) != 0 for bits in (one, other)]
        leaf = 1 + int(np.flatnonzero(changes[0] != changes[1])[0])
        return self.task.vocab.encode([str(leaf), "~", str(leaf + 1), END_OF_DATA])


_FAMILIES: MappingProxyType[type[AbstractTask], Callable[[Any], AbstractFamily]] = MappingProxyType(
    {Index: Lists, IsTree: Stars}
)


def family_of(task: AbstractTask) -> AbstractFamily:
    """The texts of a task.

    Raises:
        ConfigError: the task has no family of texts here.
    """
    if type(task) not in _FAMILIES:
        names = " and ".join(kind.__name__ for kind in _FAMILIES)
        raise ConfigError(f"Collisions are searched among the texts of {names}, not of {type(task).__name__}.")
    return _FAMILIES[type(task)](task)


def right_answer(task: AbstractTask, tokens: tuple[str, ...]) -> str:
    """The answer to a text with its question, by the task's own definition.

    Raises:
        ConfigError: the task has no family of texts here.
    """
    if isinstance(task, IsTree):
        ends = [int(token) for token in tokens if token not in (BEGIN, "~", END_OF_DATA)]
        return task.solve({"edges": [list(edge) for edge in zip(ends[::2], ends[1::2], strict=True)]})
    if isinstance(task, Index):
        return task.solve(task.read_prompt(tokens))
    raise ConfigError(f"There is no family of texts of {type(task).__name__}.")
