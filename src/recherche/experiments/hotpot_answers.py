"""Answers to HotpotQA: asked in batches, kept one a line, graded by the official rules, counted.

    FOLDER/samples.jsonl    a line for each answer (`language_samples`), with `id`, `f1` and `right` for exact match

An answer is what the first line concludes; one without a conclusion within the budget is undecided, and wrong.
"""

import json
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from recherche.errors import ConfigError
from recherche.evaluation import wilson_interval
from recherche.experiments.files import read_json_lines, write_json_lines
from recherche.experiments.hotpot_plan import HotpotPoint, Material
from recherche.experiments.language_samples import sample_record, tally
from recherche.experiments.language_subject import LanguageSubject
from recherche.lm import Written
from recherche.texts.base import TextExample
from recherche.texts.hotpot_file import HotpotQuestion
from recherche.texts.hotpot_grading import grade_hotpot
from recherche.texts.hotpot_prompts import answer_of

Sample = dict[str, Any]


class Answers:
    """The answers of one point: those that are in its file, and those that are asked for.

    Args:
        folder: of the point; it is made with the first answer.
        batch_size: questions answered side by side.
    """

    def __init__(
        self, material: Material, point: HotpotPoint, subject: LanguageSubject, folder: Path, *, batch_size: int
    ) -> None:
        self._material, self._point, self._subject, self._batch_size = material, point, subject, batch_size
        self._path = folder / "samples.jsonl"
        samples = read_json_lines(self._path)
        if samples:
            write_json_lines(self._path, samples)  # a crash can have left a short last line, which none may follow
        self._samples = {sample["id"]: sample for sample in samples}

    def of(self, questions: Sequence[HotpotQuestion], *, tell: Callable[[int], None]) -> list[Sample]:
        """The answers to questions, in their order; each batch is in the file before the next begins.

        Args:
            tell: hears how many of them are answered, first those that were already.

        Raises:
            ConfigError: a prompt is longer than the model's positions.
        """
        left = [question for question in questions if question.id not in self._samples]
        done = len(questions) - len(left)
        tell(done)
        waiting = iter(left)
        while batch := list(islice(waiting, self._batch_size)):
            new = self._ask(batch)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(json.dumps(sample) + "\n" for sample in new))
            self._samples |= {sample["id"]: sample for sample in new}
            done += len(batch)
            tell(done)
        return [self._samples[question.id] for question in questions]

    def _ask(self, batch: Sequence[HotpotQuestion]) -> list[Sample]:
        prompts = [self._material.prompt(self._point, question) for question in batch]
        lengths = [self._subject.count(prompt) for prompt in prompts]
        budget, positions = self._material.plan.answering.max_new_tokens, self._subject.facts.positions
        if positions is not None and max(lengths) + budget > positions:
            raise ConfigError(
                f"A prompt of {max(lengths):,} tokens and an answer of {budget} exceed the {positions:,} positions of "
                f"{self._point.label}; ask for fewer --shots, --paragraphs or --max-new-tokens."
            )
        started = time.perf_counter()
        answers = self._subject.write(self._point.protocol, prompts, max_new_tokens=budget)
        seconds = (time.perf_counter() - started) / len(batch)
        return [
            _sample(question, written, prompt_tokens=length, tokens=len(written.tokens), seconds=seconds)
            for question, written, length in zip(batch, answers, lengths, strict=True)
        ]


def _sample(question: HotpotQuestion, written: Written, **numbers: Any) -> Sample:
    answer = answer_of(written.answer_text)
    grade = grade_hotpot(answer or "", question.answer)
    example = TextExample(context="", question=question.question, answers=(question.answer,), trace=())
    graded = {
        "id": question.id,
        "kind": question.kind,
        "answer": answer or "",
        "decided": answer is not None,
        "right": answer is not None and grade.exact_match,
        "f1": grade.f1,
    }
    return sample_record(example, written, **graded, **numbers)


def numbers_of(samples: Sequence[Sample]) -> dict[str, Any]:
    """The columns of a point: accuracy is exact match; F1 has the interval of a share, which is wide enough for it.

    A number between 0 and 1 varies at most as much as one that is 0 or 1 with the same mean.
    """
    total = sum(sample["f1"] for sample in samples)
    low, high = wilson_interval(min(total, len(samples)), len(samples))
    return tally(samples) | {"f1": total / len(samples), "f1_low": low, "f1_high": high}
