"""What a task of natural text is: it draws a text and a question about it, and knows the answers and the searches.

A task is a frozen dataclass, its own configuration. Every example is a function of a 64-bit key. A model is given the
prompt, which ends with "Answer:", and writes on from there:

    direct   the answers, and a line break                " 555-1234\\n"
    search   the trace: searches, then the same line      after Ada Berg: -> 555-1234, then " 555-1234\\n"

Answers are graded by `grading.grade`, whatever wrote them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, final

import numpy as np

from recherche._lookup import lookup
from recherche._rng import numpy_generator
from recherche.errors import ConfigError
from recherche.text_queries import TextQuery


@final
@dataclass(frozen=True, slots=True)
class Ask:
    """A search that a model makes.

    Attributes:
        query: what it asks.
        found: what is found in the text so far, None for nothing.
    """

    query: TextQuery
    found: str | None


@final
@dataclass(frozen=True, slots=True)
class Say:
    """Text that a model writes."""

    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TextExample:
    """One text with a question.

    Attributes:
        context: the text that is asked about.
        question: the question, whose last word is "Answer:".
        answers: the right answers; all of them are wanted, each once.
        trace: how a model answers that searches; its last part says `target`.
    """

    context: str
    question: str
    answers: tuple[str, ...]
    trace: tuple[Ask | Say, ...]

    @property
    def prompt(self) -> str:
        """What a model is given."""
        return self.context + self.question

    @property
    def target(self) -> str:
        """What a model writes that answers at once."""
        return target_of(self.answers)


@dataclass(frozen=True, kw_only=True)
class AbstractTextTask(ABC):
    """A distribution of texts with a question each.

    Attributes:
        name: the task's name in `TEXT_TASKS`, on the command line and in messages.
        counted: what n counts, in the plural.
        smallest: the least n; `largest` the greatest, which bounds the cost of an example.
        n: the size of the text.
    """

    name: ClassVar[str]
    counted: ClassVar[str]
    smallest: ClassVar[int] = 1
    largest: ClassVar[int] = 100_000
    n: int = 30

    def __post_init__(self) -> None:
        self.require_between("n", self.least, self.greatest)

    @property
    def least(self) -> int:
        """The least n of this configuration."""
        return self.smallest

    @property
    def greatest(self) -> int:
        """The greatest n of this configuration."""
        return self.largest

    @property
    def lower_bound_bits(self) -> float | None:
        """Bits of state without which no reader of the context is always right; None where no bound is claimed."""
        return None

    @abstractmethod
    def example(self, key: int) -> TextExample:
        """The example that a 64-bit key stands for."""

    @classmethod
    def configured(cls, *, n: int, **options: Any) -> "AbstractTextTask":
        """The task from the plain names that files and the command line use.

        Args:
            options: the task's own settings by name.

        Raises:
            ConfigError: an unknown option, an option of another kind, or a size that the task cannot have.
        """
        known = {field.name: field for field in fields(cls) if field.name != "n"}
        for name, value in options.items():
            if not known:
                raise ConfigError(f"The task {cls.name} has no options, got {name!r}; leave it out.")
            lookup(known, name, what=f"option of {cls.name}")
            kind, noun = (int, "an integer") if isinstance(known[name].default, int) else (str, "a text")
            if not isinstance(value, kind):
                raise ConfigError(f"The option {name} of {cls.name} is {noun}, got {value!r}.")
        return cls(n=n, **options)

    def at_size(self, n: int) -> "AbstractTextTask":
        """The same task with texts of size n.

        Raises:
            ConfigError: n is smaller or greater than the task allows.
        """
        return replace(self, n=n)

    def require_between(self, field: str, low: int, high: int) -> None:
        """Refuse a value outside low..high.

        Raises:
            ConfigError: it is not within.
        """
        value = getattr(self, field)
        if not low <= value <= high:
            what = f"n = {value} {self.counted}" if field == "n" else f"{field} = {value}"
            raise ConfigError(
                f"The task {self.name} takes {field} from {low} to {high}, got {what}; choose one of these."
            )


def target_of(answers: Iterable[str]) -> str:
    """How answers are written behind "Answer:".

    >>> target_of(["amber", "stone"])
    ' amber, stone\\n'
    """
    return f" {', '.join(answers)}\n"


def searched(asks: Iterable[Ask], answers: Iterable[str]) -> tuple[Ask | Say, ...]:
    """The trace that makes all searches first, then writes the answers."""
    return (*asks, Say(target_of(answers)))


def listed(things: Sequence[str]) -> str:
    """Names one after the other.

    >>> listed(["Ada", "Bo", "Cy"])
    'Ada, Bo and Cy'
    """
    return " and ".join(filter(None, (", ".join(things[:-1]), things[-1])))


def asked(question: str) -> str:
    """The question in its place after the text.

    >>> asked("What is the number of Ada Berg?")
    '\\nQuestion: What is the number of Ada Berg?\\nAnswer:'
    """
    return f"\nQuestion: {question}\nAnswer:"


def example_keys(seed: int, num: int) -> list[int]:
    """The keys of the first `num` examples of a seed; they are the same whatever the task and its size.

    Raises:
        ConfigError: fewer than one was asked for.
    """
    if num < 1:
        raise ConfigError(f"Sampling needs at least one example, got {num}; ask for 1 or more.")
    return [int(key) for key in numpy_generator(seed, "text sample").integers(0, 2**64, size=num, dtype=np.uint64)]


def examples(task: AbstractTextTask, num: int, *, seed: int) -> Iterator[TextExample]:
    """The first `num` examples of a seed.

    Raises:
        ConfigError: fewer than one was asked for.
    """
    return map(task.example, example_keys(seed, num))
