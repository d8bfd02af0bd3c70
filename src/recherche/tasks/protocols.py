"""How one question about a list of tokens may be answered: at once, after a search that is really run, or worked out.

    DirectAnswer   a
    SearchAnswer   <StartSearch> query <EndSearch> r a      r is what the search returns, FAILED if nothing
    WorkedAnswer   w1 ... wj a                              what leads to the answer, written down (chain of thought)

A chain of thought means something where an answer takes several looks: counting writes the places it has found,
averaging a tally, istree its tour. Index, recall, mqar, cgram, induction and a machine step are one look each, and what
that finds is the answer or names it; copying and selective copying write the list itself. They have none.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Int64

from recherche.tasks.rows import Targets, append_rows
from recherche.tasks.symbols import END_ID, START_ID


@final
@dataclass(frozen=True, slots=True)
class Lookup:
    """The one search that answers each row, in token ids.

    Attributes:
        query: what the model writes between the markers.
        found: what the search returns.
        answers: the right answers.
        work: what leads to them, and how many tokens of it each row has; None where nothing does.
    """

    query: Int64[np.ndarray, "b j"]
    found: Int64[np.ndarray, " b"]
    answers: Int64[np.ndarray, " b"]
    work: tuple[Int64[np.ndarray, "b w"], Int64[np.ndarray, " b"]] | None = None


class AbstractAnswer(ABC):
    """What the model writes after the question."""

    name: ClassVar[str]
    uses_search: ClassVar[bool]

    @abstractmethod
    def max_target(self, query_length: int, work_length: int = 0) -> int:
        """The most tokens of a target, for a query and for work of at most these lengths."""

    @abstractmethod
    def write(self, lookup: Lookup) -> Targets:
        """The target of each row."""


@final
@dataclass(frozen=True, slots=True)
class DirectAnswer(AbstractAnswer):
    """The answer at once."""

    name: ClassVar[str] = "direct"
    uses_search: ClassVar[bool] = False

    def max_target(self, query_length: int, work_length: int = 0) -> int:
        """One token."""
        return 1

    def write(self, lookup: Lookup) -> Targets:
        """The answer."""
        n_rows = len(lookup.answers)
        return Targets(lookup.answers[:, None], np.ones((n_rows, 1), np.bool_), np.ones(n_rows, np.int64))


@final
@dataclass(frozen=True, slots=True)
class SearchAnswer(AbstractAnswer):
    """A query, what it finds, and the answer."""

    name: ClassVar[str] = "retrieval"
    uses_search: ClassVar[bool] = True

    def max_target(self, query_length: int, work_length: int = 0) -> int:
        """The query, two markers, the result and the answer."""
        return query_length + 4

    def write(self, lookup: Lookup) -> Targets:
        """Only the result is not the model's own."""
        n_rows, query_length = lookup.query.shape
        column = np.ones((n_rows, 1), np.int64)
        parts = (column * START_ID, lookup.query, column * END_ID, lookup.found[:, None], lookup.answers[:, None])
        tokens = np.concatenate(parts, axis=1)
        loss_mask = np.ones(tokens.shape, np.bool_)
        loss_mask[:, query_length + 2] = False
        return Targets(tokens, loss_mask, np.full(n_rows, tokens.shape[1]))


@final
@dataclass(frozen=True, slots=True)
class WorkedAnswer(AbstractAnswer):
    """What leads to the answer, then the answer: a chain of thought."""

    name: ClassVar[str] = "cot"
    uses_search: ClassVar[bool] = False

    def max_target(self, query_length: int, work_length: int = 0) -> int:
        """The work and the answer."""
        return work_length + 1

    def write(self, lookup: Lookup) -> Targets:
        """All of it is the model's own."""
        assert lookup.work is not None
        work, lengths = lookup.work
        shape = (len(work), work.shape[1] + 1)
        tokens, loss_mask = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
        answers = lookup.answers[:, None]
        append_rows(tokens, loss_mask, np.zeros_like(lengths), work, np.ones(work.shape, np.bool_), lengths)
        append_rows(tokens, loss_mask, lengths, answers, np.ones(answers.shape, np.bool_), np.ones_like(lengths))
        return Targets(tokens, loss_mask, lengths + 1)
