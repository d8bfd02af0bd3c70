"""What the models are trained on: rows of full length, packed with taught texts, the rest filled with prose.

    text, question, searches, answer <eos> | prose prose prose | text, question, answer <eos> | ...

Some rows are filled with lines of other texts instead, about which nothing is asked: a model that is to search a long
text must not mind what else it has read. A row is a function of a 64-bit key. What a model must write has a loss: of a
taught text what the model writes itself, and a part of the prose. Rows are never padded, so that a state at the end of
one is a state after its last token.
"""

from dataclasses import replace
from typing import final

import numpy as np
from jaxtyping import Int, UInt64
from pydantic import BaseModel, ConfigDict, Field

from recherche._lookup import lookup
from recherche._rng import numpy_generator
from recherche.lm.lessons import Lesson, LessonWriter
from recherche.tasks.base import Batch, draw_keys
from recherche.texts import TEXT_TASKS, TextExample

HELD_OUT_PROSE = 0.05
"""The last part of the prose is never in a row."""

PROSE_LOSS_SHARE = 0.3
"""Share of the tokens of prose that have a loss: there are many, and few that an answer consists of."""

FIRST_TOKEN_SHARE = 0.25
"""Share of the direct answers whose first token has a loss: there, beginning a search must stay the likeliest."""

_LINE_TOKENS = 12
"""About as many are in a short line."""

_ATTEMPTS = 4
"""How many texts in turn may be too long for the rest of a row before prose fills it."""


@final
class TaughtTask(BaseModel):
    """A task, its sizes and how often it is drawn.

    Attributes:
        least, most: the range of n; small ones are drawn more often (log n is uniform).
        weight: how often, relative to the others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    least: int = Field(ge=1)
    most: int = Field(ge=1)
    weight: float = Field(default=1.0, gt=0)


@final
class Mixture(BaseModel):
    """What rows are made of.

    Attributes:
        tokens: of a row.
        search_share: share of the taught texts that is answered with searches; the others are answered at once.
        filler_share: share of the rows that is nothing but filler.
        lines_share: share of the fillers that is lines of texts; the others are prose.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    tasks: tuple[TaughtTask, ...] = Field(min_length=1)
    tokens: int = Field(ge=2)
    search_share: float = Field(default=0.75, ge=0, le=1)
    filler_share: float = Field(default=0.15, ge=0, le=1)
    lines_share: float = Field(default=0.0, ge=0, le=1)


@final
class PackedRows:
    """Rows of a mixture; what a `Trainer` takes batches from. Its size is the number of tokens of a row."""

    def __init__(self, mixture: Mixture, writer: LessonWriter, prose: Int[np.ndarray, " t"]) -> None:
        """Rows in the tokens of a writer.

        Args:
            prose: tokens of the prose, more than a row has.
        """
        self.mixture = mixture
        self._writer, self._prose = writer, prose
        weights = np.array([task.weight for task in mixture.tasks])
        self._shares = weights / weights.sum()

    @property
    def size(self) -> int:
        """Tokens of a row."""
        return self.mixture.tokens

    def at_size(self, n: int) -> "PackedRows":
        """Rows of `n` tokens."""
        return PackedRows(self.mixture.model_copy(update={"tokens": n}), self._writer, self._prose)

    def sample_batch(self, generator: np.random.Generator, batch_size: int) -> Batch:
        """Fresh rows."""
        return self.batch(draw_keys(generator, batch_size))

    def batch(self, keys: UInt64[np.ndarray, " b"]) -> Batch:
        """The rows that `keys` stand for; one token more than a model reads, which is the last one's target."""
        rows = [self.row(int(key)) for key in keys]
        length = self.mixture.tokens + 1
        return Batch(
            tokens=np.array([row.ids for row in rows]),
            loss_mask=np.array([row.written for row in rows]),
            prompt_lengths=np.zeros(len(rows), dtype=np.int64),
            lengths=np.full(len(rows), length),
            answers=np.zeros(len(rows), dtype=np.int64),
            keys=keys,
        )

    def row(self, key: int) -> Lesson:
        """The row that one key stands for."""
        draws = numpy_generator(key, "packed row")
        room = self.mixture.tokens + 1
        parts = [] if draws.random() < self.mixture.filler_share else self._texts(draws, room)
        left = room - sum(len(part.ids) for part in parts)
        filler = (
            self._lines(draws, left) if draws.random() < self.mixture.lines_share else self._some_prose(draws, left)
        )
        parts.insert(int(draws.integers(len(parts) + 1)), filler)
        return Lesson(
            ids=tuple(id_ for part in parts for id_ in part.ids),
            written=tuple(written for part in parts for written in part.written),
            may_search=True,
        )

    def _texts(self, draws: np.random.Generator, room: int) -> list[Lesson]:
        """Taught texts that together fit into `room` tokens."""
        texts: list[Lesson] = []
        misfits = 0
        while misfits < _ATTEMPTS:
            text = self._text(draws)
            if len(text.ids) <= room:
                texts.append(text)
                room -= len(text.ids)
            else:
                misfits += 1
        return texts

    def _some_prose(self, draws: np.random.Generator, count: int) -> Lesson:
        start = int(draws.integers(len(self._prose) - count + 1))
        written = (draws.random(count) < PROSE_LOSS_SHARE).tolist()
        return Lesson(tuple(self._prose[start : start + count].tolist()), tuple(written), may_search=True)

    def _lines(self, draws: np.random.Generator, count: int) -> Lesson:
        """The last tokens of a text that is long enough, without a loss."""
        task = self._task(draws)
        ids: list[int] = []
        n = max(task.least, 1 + count // _LINE_TOKENS)
        while len(ids) < count:
            ids = self._writer.codec.encode_prompt(_example(task, n, draws).context)
            n *= 2
        return Lesson(tuple(ids[len(ids) - count :]), (False,) * count, may_search=True)

    def _task(self, draws: np.random.Generator) -> TaughtTask:
        return self.mixture.tasks[draws.choice(len(self._shares), p=self._shares)]

    def _text(self, draws: np.random.Generator) -> Lesson:
        task = self._task(draws)
        example = _example(task, int(task.least * ((task.most + 1) / task.least) ** draws.random()), draws)
        if draws.random() < self.mixture.search_share:
            return self._writer.search(example)
        answer = self._writer.direct(example)
        return answer if draws.random() < FIRST_TOKEN_SHARE else _without_first_loss(answer)


def _example(task: TaughtTask, n: int, draws: np.random.Generator) -> TextExample:
    return lookup(TEXT_TASKS, task.name, what="text task")(n=n).example(int(draws.integers(0, 2**64, dtype=np.uint64)))


def _without_first_loss(lesson: Lesson) -> Lesson:
    """The lesson without a loss at the first token that is written."""
    first = lesson.written.index(True)
    return replace(lesson, written=(*lesson.written[:first], False, *lesson.written[first + 1 :]))


def prose_tokens(writer: LessonWriter, text: str) -> tuple[Int[np.ndarray, " t"], Int[np.ndarray, " u"]]:
    """The tokens of a text: those that rows are filled with, and the last part, which is held out.

    Raises:
        CodecError: the tokenizer cannot write it.
    """
    ids = np.array(writer.codec.encode_prompt(text))
    taught = int(len(ids) * (1 - HELD_OUT_PROSE))
    return ids[:taught], ids[taught:]
