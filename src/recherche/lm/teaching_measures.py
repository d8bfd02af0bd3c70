"""What a model can do during its teaching: texts answered by real generation, searches really made.

Measured are all tasks, taught and held out, at the largest taught n and at the held-out ones, by each taught protocol;
the texts are the same at every evaluation. By `direct` no search can be begun.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recherche.errors import ConfigError
from recherche.lm.custom_generate import positions_of
from recherche.lm.generation import generate_plain, generate_with_search
from recherche.lm.lessons import Lesson, LessonWriter
from recherche.lm.teaching import Teaching, text_task
from recherche.texts.base import TextExample, examples
from recherche.texts.grading import grade

SPARE_TOKENS = 16
"""A right answer may be cut into tokens in a longer way than a lesson cuts it."""


class Measured(NamedTuple):
    """Texts of one task and size, answered by one protocol.

    Attributes:
        lessons: the right answers as tokens.
    """

    protocol: str
    examples: tuple[TextExample, ...]
    lessons: tuple[Lesson, ...]

    @property
    def budget(self) -> int:
        """Tokens that an answer may have: twice what the longest right one has, and a few."""
        return 2 * max(sum(lesson.written) + _inserted(lesson) for lesson in self.lessons) + SPARE_TOKENS


def measured(teaching: Teaching, writer: LessonWriter) -> dict[str, Measured]:
    """All that is measured, by a name such as `phonebook_n100_search`.

    Raises:
        CodecError: the tokenizer cannot write a text.
    """
    found = {}
    for name in (*teaching.tasks, *teaching.held_out_tasks):
        for n in teaching.measured_sizes:
            texts = tuple(examples(text_task(name, n), teaching.num_evaluated, seed=teaching.seed))
            for protocol in teaching.protocols:
                write = writer.search if protocol == "search" else writer.direct
                found[f"{name}_n{n}_{protocol}"] = Measured(protocol, texts, tuple(map(write, texts)))
    return found


def require_fit(model: Any, kinds: Mapping[str, Measured]) -> None:
    """Refuse texts that are longer than the model can read.

    Raises:
        ConfigError: there is one.
    """
    positions = positions_of(model)
    for name, kind in kinds.items():
        longest = max(len(lesson.ids) for lesson in kind.lessons) + SPARE_TOKENS
        if positions is not None and longest > positions:
            raise ConfigError(
                f"The texts of {name} have up to {longest:,} tokens, but {type(model).__name__} can tell apart "
                f"{positions:,} positions (config.max_position_embeddings); choose a smaller n."
            )


def accuracy(model: Any, tokenizer: Any, kind: Measured, *, batch_size: int) -> float:
    """The share of right answers, written by generation."""
    right = 0
    positions = positions_of(model)
    for begin in range(0, len(kind.examples), batch_size):
        texts = kind.examples[begin : begin + batch_size]
        lengths = [lesson.written.index(True) for lesson in kind.lessons[begin : begin + batch_size]]
        budget = kind.budget if positions is None else min(kind.budget, positions - max(lengths))
        answers = _answers(model, tokenizer, kind.protocol, [text.prompt for text in texts], max_new_tokens=budget)
        right += sum(map(grade, texts, answers))
    return right / len(kind.examples)


def _answers(model: Any, tokenizer: Any, protocol: str, prompts: list[str], **given: Any) -> list[str]:
    given |= {"stop_strings": ("\n",), "do_sample": False}
    if protocol == "search":
        written = generate_with_search(model, tokenizer, prompts, **given)
    else:
        start = LessonWriter(tokenizer).markers.start
        written = generate_plain(model, tokenizer, prompts, suppress_tokens=[start], **given)
    return [row.answer_text for row in written]


def _inserted(lesson: Lesson) -> int:
    """Tokens behind the prompt that searches insert."""
    begin = lesson.written.index(True)
    return len(lesson.written) - begin - sum(lesson.written)
