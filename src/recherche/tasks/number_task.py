"""What the tasks on lists of numbers share: `<s> x1 ... xn question`, numbers as tokens, options by field name.

A subclass is a frozen dataclass with its size `n`, its `protocol` and its own options; it draws rows, reads a prompt
back as a problem, and solves the problem by definition.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int64, UInt64

from recherche._lookup import lookup
from recherche.errors import ConfigError, QueryError
from recherche.tasks.base import AbstractTask, Batch, Example
from recherche.tasks.protocols import AbstractAnswer
from recherche.tasks.rows import Prompts, Targets, batch_of, example_of_row
from recherche.tasks.symbols import BEGIN_ID, FAILED_ID, number_vocab
from recherche.vocab import Vocab

Numbers = Int64[np.ndarray, "b _"]


class AbstractNumberTask(AbstractTask):
    """A task on numbers 1..num_numbers."""

    protocols: ClassVar[Mapping[str, AbstractAnswer]]
    protocol: AbstractAnswer
    n: int

    @property
    @abstractmethod
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""

    @abstractmethod
    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """The prompt and the target that each key stands for."""

    @abstractmethod
    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The problem that a prompt states."""

    @classmethod
    def configured(cls, *, n: int, protocol: str, **options: Any) -> "AbstractNumberTask":
        """The task by the names of its protocol and of its fields.

        Raises:
            ConfigError: an unknown protocol or option, an option of another kind, or a size that is too small.
        """
        names = {field.name: field for field in fields(cls) if field.name not in ("n", "protocol")}  # type: ignore[arg-type]
        for name, value in options.items():
            lookup(names, name, what=f"option of {cls.key}")
            kind, noun = (str, "a name") if isinstance(names[name].default, str) else (int, "an integer")
            if not isinstance(value, kind):
                raise ConfigError(f"The option {name} of {cls.key} is {noun}, got {value!r}.")
        chosen = lookup(cls.protocols, protocol, what=f"protocol of {cls.key}")
        return cls(n=n, protocol=chosen, **options)  # type: ignore[call-arg]

    @property
    def vocab(self) -> Vocab:
        """Symbols, then the numbers."""
        return number_vocab(self.num_numbers)

    @property
    def size(self) -> int:
        """The length of the list."""
        return self.n

    @property
    def answer_tokens(self) -> tuple[str, ...]:
        """All numbers."""
        return self.vocab.tokens[FAILED_ID + 1 :]

    @property
    def uses_search(self) -> bool:
        """Whether the protocol asks a query."""
        return self.protocol.uses_search

    def batch(self, keys: UInt64[np.ndarray, " b"]) -> Batch:
        """The rows that `keys` stand for."""
        return batch_of(keys, *self.rows(keys))

    def example(self, key: int) -> Example:
        """The row that one key stands for."""
        batch = self.batch(np.array([key], dtype=np.uint64))
        prompt = self.vocab.decode(batch.tokens[0, : batch.prompt_lengths[0]])
        return example_of_row(batch, self.vocab, row=0, problem=self.read_prompt(prompt))

    def is_number(self, token: str) -> bool:
        """Whether the token is a number of the vocabulary."""
        return token in self.vocab and FAILED_ID < self.vocab.id_of(token) <= FAILED_ID + self.num_numbers


def prompts_of(*parts: Numbers) -> Prompts:
    """`<s>` and the parts (token ids) of each row, one after the other."""
    n_rows = len(parts[0])
    tokens = np.concatenate((np.full((n_rows, 1), BEGIN_ID), *parts), axis=1)
    return Prompts(tokens, np.full(n_rows, tokens.shape[1]))


def refuse_query(key: str, tokens: tuple[str, ...], *, form: str) -> QueryError:
    """The refusal of what is no query of the task `key`, whose queries have the form `form`."""
    return QueryError(f"{key} asks {form}, got `{' '.join(tokens)}`; train on a protocol that searches, or none.")


def require(condition: bool, message: str) -> None:
    """Refuse a configuration.

    Raises:
        ConfigError: the condition does not hold.
    """
    if not condition:
        raise ConfigError(message)
