"""What a task is: it draws problems, writes what a model sees and must produce, and knows the right answer.

A task is a frozen dataclass, its own configuration: the size, the protocol (how the answer may be worked out) and the
vocabulary are fields. Tasks know nothing of models. Every row is drawn from one 64-bit key by compiled code, so that an
example alone and the same example inside a batch are equal, on every machine.

    example   prompt `<s> ... <d>`, target `... answer`, loss mask over the target
    batch     the same as padded integer arrays, for training and evaluation
"""

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, final

import numpy as np
from jaxtyping import Bool, Int, UInt64

from recherche.errors import ConfigError
from recherche.queries import Query
from recherche.vocab import Vocab


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One problem as a model meets it.

    Attributes:
        prompt: tokens given to the model.
        target: tokens that follow, retrieved ones included; the last one is the answer.
        loss_mask: for each target token, 1 if the model must produce it and 0 if a search returns it.
        answer: the right answer, a token.
        problem: what the prompt was written from (for IsTree the edges), JSON-serialisable.
    """

    prompt: tuple[str, ...]
    target: tuple[str, ...]
    loss_mask: tuple[int, ...]
    answer: str
    problem: dict[str, Any]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rows of prompt and target, right-padded with id 0.

    Attributes:
        tokens: prompt then target of each row.
        loss_mask: True at tokens that the model must produce: not where a search returns them, not in padding, and in
            the prompt only at earlier answers, where a task asks many questions in one text (mqar, copying).
        prompt_lengths: number of prompt tokens of each row.
        lengths: number of prompt and target tokens of each row.
        answers: id of the right answer of each row.
        keys: the key each row was drawn from; `task.example(key)` is that row.
    """

    tokens: Int[np.ndarray, "b t"]
    loss_mask: Bool[np.ndarray, "b t"]
    prompt_lengths: Int[np.ndarray, " b"]
    lengths: Int[np.ndarray, " b"]
    answers: Int[np.ndarray, " b"]
    keys: UInt64[np.ndarray, " b"]


MOST_TOKENS = 5_000_000
"""Tokens that a text may have, unless the user says otherwise."""

MOST_TOKENS_VARIABLE = "RECHERCHE_MOST_TOKENS"
_BYTES_A_TOKEN = 200
"""Measured: a drawn token as array, as text and as the name in its vocabulary."""


def draw_keys(generator: np.random.Generator, batch_size: int) -> UInt64[np.ndarray, " b"]:
    """One key for each row of the next batch; the only randomness that a task uses."""
    return generator.integers(0, 2**64, size=batch_size, dtype=np.uint64)


class AbstractTask(ABC):
    """A distribution of problems with a right answer each.

    Attributes:
        key: the task's name in `TASKS`, on the command line and in messages.
    """

    key: ClassVar[str]

    @classmethod
    @abstractmethod
    def configured(cls, *, n: int, protocol: str, **options: Any) -> "AbstractTask":
        """The task from the plain names that files and the command line use.

        Args:
            protocol: direct, cot or retrieval.
            options: the task's own settings by name.

        Raises:
            ConfigError: an unknown protocol or option, or a size that is too small.
        """

    @property
    @abstractmethod
    def vocab(self) -> Vocab:
        """The token table; the same for every size a curriculum visits."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The task's n: what `--n` sets and a curriculum raises."""

    @property
    @abstractmethod
    def max_length(self) -> int:
        """The most tokens that prompt and target can have together."""

    @property
    @abstractmethod
    def answer_tokens(self) -> tuple[str, ...]:
        """The tokens that end a text when a model writes one of them outside a query (for IsTree YES and NO)."""

    @property
    @abstractmethod
    def uses_search(self) -> bool:
        """Whether the protocol lets a model search: its queries are run, and what they find is appended."""

    @property
    @abstractmethod
    def chance(self) -> float:
        """The accuracy of the best guess that knows the task and the question, but nothing of the context."""

    @property
    @abstractmethod
    def lower_bound_bits(self) -> float:
        """Bits of state without which no reader is always right, whatever it writes; each task has its proof."""

    @abstractmethod
    def at_size(self, n: int) -> "AbstractTask":
        """The same task with problems of size n and the same vocabulary.

        Raises:
            ConfigError: n is too small for the task, or the vocabulary cannot name n things.
        """

    @abstractmethod
    def batch(self, keys: UInt64[np.ndarray, " b"]) -> Batch:
        """The rows that `keys` stand for."""

    @abstractmethod
    def example(self, key: int) -> Example:
        """The row that one key stands for, in tokens."""

    @abstractmethod
    def solve(self, problem: dict[str, Any]) -> str:
        """The right answer to `Example.problem` by definition: the oracle, in plain Python."""

    @abstractmethod
    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """The query that a model has written between <StartSearch> and <EndSearch>.

        Raises:
            QueryError: the tokens are not a query of this task.
        """

    def sample_batch(self, generator: np.random.Generator, batch_size: int) -> Batch:
        """Draw a batch; `generator` advances by `batch_size` keys."""
        return self.batch(draw_keys(generator, batch_size))


AnyTask = TypeVar("AnyTask", bound=AbstractTask)


def affordable(task: AnyTask) -> AnyTask:
    """The task itself, if a text of it can be drawn and held; asked before anything of a user's size is built.

    Raises:
        ConfigError: a text may have more tokens than `MOST_TOKENS`, or than the user has allowed.
    """
    most = _most_tokens()
    if task.max_length > most:
        raise ConfigError(
            f"A text of {task.key} of size {task.size:,} may have {task.max_length:,} tokens, and at most {most:,} are "
            f"drawn; choose a smaller size, or set {MOST_TOKENS_VARIABLE} if there is memory for "
            f"{task.max_length * _BYTES_A_TOKEN / 2**30:,.0f} GiB."
        )
    return task


def _most_tokens() -> int:
    given = os.environ.get(MOST_TOKENS_VARIABLE, "")
    if given and not given.isdecimal():
        raise ConfigError(f"{MOST_TOKENS_VARIABLE} is a number of tokens such as 20000000, got {given!r}.")
    return int(given) if given else MOST_TOKENS
