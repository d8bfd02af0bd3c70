"""Lessons by number: lesson i of a seed is always the same, so that a teaching goes on where it stopped.

Lessons of like length are put into one batch: numbers are taken in blocks of some batches, the lessons of a block are
sorted by length and cut into batches, and the batches are put in a random order.
"""

from functools import lru_cache
from typing import Any, final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from recherche._rng import numpy_generator
from recherche.lm.lessons import Lesson, LessonWriter
from recherche.lm.teaching import Teaching, text_task
from recherche.texts.prose import passage, pieces

BLOCK = 8
"""Batches that are sorted together."""

HELD_OUT_PROSE = 0.05
"""The last part of the prose is never taught: old ability is measured there."""

IGNORED = -100
"""The label of a token that has no loss, as in transformers."""


@final
class LessonMixture(Dataset):
    """All lessons of a teaching, in the order in which they are taught."""

    def __init__(self, teaching: Teaching, writer: LessonWriter) -> None:
        self._teaching, self._writer = teaching, writer
        self._num_words = int(len(pieces(teaching.prose)) * (1 - HELD_OUT_PROSE))
        self._block = lru_cache(maxsize=2)(self._drawn_block)

    def __len__(self) -> int:
        return self._teaching.steps * self._teaching.accumulation * self._teaching.batch_size

    def __getitem__(self, place: int) -> Lesson:
        block, at = divmod(place, BLOCK * self._teaching.batch_size)
        return self._block(block)[at]

    def lesson(self, number: int) -> Lesson:
        """The lesson of that number; where it is taught is another matter.

        Raises:
            CodecError: the tokenizer cannot write it.
        """
        draws, teaching = numpy_generator(self._teaching.seed, f"lesson {number}"), self._teaching
        if draws.random() < teaching.prose_share:
            starts = max(1, self._num_words - teaching.prose_tokens)
            return self._prose(int(draws.integers(starts)), self._num_words)
        low, high = teaching.sizes[draws.integers(len(teaching.sizes))]
        name, n = teaching.tasks[draws.integers(len(teaching.tasks))], int(draws.integers(low, high + 1))
        searches = draws.random() < teaching.search_share
        example = text_task(name, n).example(int(draws.integers(0, 2**64, dtype=np.uint64)))
        return self._writer.search(example) if searches else self._writer.direct(example)

    def held_out_prose(self, count: int) -> list[Lesson]:
        """At most so many pieces of prose, none of which is taught.

        Raises:
            CodecError: the tokenizer cannot write it.
        """
        end = len(pieces(self._teaching.prose))
        width = max(2, (end - self._num_words) // count)
        starts = range(self._num_words, end - width + 1, width)
        return [self._prose(start, start + width) for start in starts[:count]]

    def _prose(self, start: int, end: int) -> Lesson:
        """A lesson of the words from `start` on, none of them behind `end`; a word is a token at least."""
        limit, path = self._teaching.prose_tokens, self._teaching.prose
        return self._writer.prose("".join(passage(start, min(limit, end - start), path=path)), limit=limit)

    def _drawn_block(self, block: int) -> list[Lesson]:
        size = self._teaching.batch_size
        first = block * BLOCK * size
        lessons = sorted(map(self.lesson, range(first, first + BLOCK * size)), key=lambda lesson: len(lesson.ids))
        order = numpy_generator(self._teaching.seed, f"block {block}").permutation(BLOCK)
        return [lesson for batch in order for lesson in lessons[batch * size : (batch + 1) * size]]


def collate(lessons: list[Lesson]) -> dict[str, Any]:
    """Lessons as tensors, padded on the right: `input_ids`, `labels` (-100 without a loss) and `may_search`."""
    longest = max(len(lesson.ids) for lesson in lessons)
    ids = torch.zeros(len(lessons), longest, dtype=torch.long)
    labels = torch.full_like(ids, IGNORED)
    for row, lesson in enumerate(lessons):
        tokens: Tensor = torch.tensor(lesson.ids)
        written = torch.tensor(lesson.written)
        ids[row, : len(tokens)] = tokens
        labels[row, : len(tokens)] = tokens.where(written, IGNORED)
    return {"input_ids": ids, "labels": labels, "may_search": torch.tensor([lesson.may_search for lesson in lessons])}
