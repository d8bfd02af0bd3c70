"""Figure 6 of the paper: questions that all models answer with two paragraphs, asked again among distractors.

    DIR/hotpot.json       what was asked, which questions were kept, versions, when, which points failed
    DIR/results.jsonl     one line for each model, protocol, order and number of paragraphs
    DIR/points/NAME/      the answers of a point (`hotpot_answers`); NAME ends in the hash of all that changes them

First every model answers directly with two paragraphs until enough questions are kept; a later model is asked what the
earlier ones have answered. Then all points are measured on the same questions. Answers that are in DIR already are used
again, so that the same command goes on where it stopped.

Reference: Wen, Dang & Lyu (2024), Figure 6, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, final

from recherche.errors import ConfigError, RechercheError
from recherche.experiments.cell import Progress
from recherche.experiments.files import read_json, write_json, write_json_lines
from recherche.experiments.hotpot_answers import Answers, numbers_of
from recherche.experiments.hotpot_plan import FEWEST, HotpotPoint, Material, file_hash
from recherche.experiments.lanes import Failure, Outcome
from recherche.experiments.language_models import Machine
from recherche.experiments.language_subject import LanguageSubject
from recherche.experiments.reproduce import record_end
from recherche.experiments.versions import versions
from recherche.texts.hotpot_file import HotpotQuestion

RECORD = "hotpot.json"
CHOOSING = "choose questions"

OnMessage = Callable[[str, Any], None]
"""Told (point, Progress) while points run, and (point, its line or a Failure) at its end; a choice ends with Kept."""


@final
class Kept(NamedTuple):
    """The questions that every model answers with two paragraphs.

    Attributes:
        num_asked: how many were asked to find them.
    """

    questions: tuple[HotpotQuestion, ...]
    num_asked: int


@final
class _Run:
    """A measurement at work: its material, its models, its folder."""

    def __init__(self, material: Material, out: Path, machine: Machine, on_message: OnMessage) -> None:
        self.material, self.out, self.machine, self.on_message = material, out, machine, on_message
        dtype = material.plan.answering.dtype
        self.subjects: Mapping[str, LanguageSubject] = {
            label: machine.load(folder, device=machine.device, dtype=dtype) for label, folder in material.labels.items()
        }

    def answers(self, point: HotpotPoint) -> Answers:
        """The answers of a point."""
        folder = self.out / "points" / point.folder_name
        return Answers(self.material, point, self.subjects[point.label], folder, batch_size=self.machine.batch_size)

    def keep(self) -> Kept:
        """Ask with two paragraphs until enough questions are answered by every model.

        Raises:
            ConfigError: none is.
        """
        wanted, candidates = self.material.plan.num, self.material.candidates
        answers = [
            self.answers(self.material.point(label, "direct", "random", n=FEWEST)) for label in self.material.labels
        ]
        kept: list[HotpotQuestion] = []
        num_asked = 0
        while len(kept) < wanted and num_asked < len(candidates):
            block = list(candidates[num_asked : num_asked + self.machine.batch_size])
            num_asked += len(block)
            for of_model in answers:
                samples = of_model.of(block, tell=lambda done: None)
                block = [question for question, sample in zip(block, samples, strict=True) if sample["right"]]
            kept += block
            done = max(len(kept) / wanted, num_asked / len(candidates))
            note = f"{min(len(kept), wanted)} of {wanted} kept, {num_asked} asked"
            self.on_message(CHOOSING, Progress(CHOOSING, min(round(done * 1000), 1000), 1000, note))
        if not kept:
            raise ConfigError(
                f"None of {num_asked} questions is answered by every model with two paragraphs, so that nothing can be "
                f"lost among more; look at {self.out / 'points'}, and measure models that answer some."
            )
        chosen = Kept(tuple(kept[:wanted]), num_asked)
        self.on_message(CHOOSING, chosen)
        return chosen

    def measure(self, point: HotpotPoint, kept: Kept) -> dict[str, Any]:
        """Answer what is left of a point, and return its line."""
        samples = self.answers(point).of(
            kept.questions,
            tell=lambda done: self.on_message(point.name, Progress("answer", done, len(kept.questions), "")),
        )
        facts = self.subjects[point.label].facts
        return {
            "point": point.name,
            "folder": point.label,
            "model_type": facts.model_type,
            "num_parameters": facts.num_parameters,
            "protocol": point.protocol,
            "order": point.order,
            "n": point.n,
            **numbers_of(samples),
            "seed": self.material.plan.answering.seed,
            "config_hash": point.hash,
            "answers": point.folder_name,
            "versions": versions(),
            "device": facts.device,
            "dtype": facts.dtype,
        }


def expected_work(material: Material) -> dict[str, float]:
    """Work of each part in arbitrary units, good enough to weigh a progress bar: (questions) x (paragraphs read).

    A choice is weighed as if a third of the questions were answered.
    """
    plan, read = material.plan, FEWEST * material.plan.answering.shots
    chosen = min(3 * plan.num, len(material.candidates)) * float(read + FEWEST)
    num = min(plan.num, len(material.candidates))
    return {CHOOSING: chosen} | {point.name: float(num * (read + point.n)) for point in material.points()}


def measure_hotpot(material: Material, out: Path, *, machine: Machine, on_message: OnMessage) -> Outcome:
    """Choose the questions and measure all points; a failed one is named and does not stop the others.

    Ctrl-C ends it between two writes: answers that are complete are kept.

    Raises:
        ConfigError: `out` holds something else, a model cannot be run, or no question is kept.
    """
    if machine.batch_size < 1:
        raise ConfigError(f"Questions are answered side by side, one at least, got {machine.batch_size}; raise it.")
    _claim(material, out)
    run = _Run(material, out, machine, on_message)
    outcome, started = Outcome({}, [], []), datetime.now(UTC)
    points = material.points()
    try:
        kept = run.keep()
        _note_kept(out, kept)
        for point in points:
            _measure_point(run, point, kept, outcome)
            write_json_lines(out / "results.jsonl", outcome.results.values())
    except KeyboardInterrupt:
        failed = {failure.cell for failure in outcome.failures}
        left = (point.name for point in points if point.name not in outcome.results)
        outcome.stopped.extend(name for name in left if name not in failed)
    record_end(out / RECORD, outcome, started=started, jobs=1, device=machine.device)
    return outcome


def _measure_point(run: _Run, point: HotpotPoint, kept: Kept, outcome: Outcome) -> None:
    try:
        line = run.measure(point, kept)
    except Exception as error:  # one point must not cost the others: memory, or a family's own error
        kind = "" if isinstance(error, RechercheError) else f"{type(error).__name__}: "
        failure = Failure(point.name, f"{kind}{error}")
        outcome.failures.append(failure)
        run.on_message(point.name, failure)
        return
    outcome.results[point.name] = line
    run.on_message(point.name, line)


def _claim(material: Material, out: Path) -> None:
    """Write what is asked into the record of the folder."""
    path, plan = out / RECORD, material.plan
    if path.exists():
        record = read_json(path)
    elif out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is not empty and was not made by `recherche hotpot`; choose another --out.")
    else:
        record = {"preset": "hotpot", "started": datetime.now(UTC).isoformat(timespec="seconds")}
    record |= {
        "seeds": [plan.answering.seed],
        "cells": [point.name for point in material.points()],
        "data": plan.data.name,
        "data_hash": file_hash(plan.data),
        "shots_file": (plan.shots_file or plan.data).name,
        "num_shots": plan.answering.shots,
        "shots": list(material.shots.ids),
        "shown_shots": {"direct": material.shots.direct, "search": material.shots.search},
        "max_new_tokens": plan.answering.max_new_tokens,
        "num_wanted": plan.num,
        "num_questions": material.num_questions,
        "num_candidates": len(material.candidates),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_json(path, record)


def _note_kept(out: Path, kept: Kept) -> None:
    record = read_json(out / RECORD)
    record |= {"num_asked": kept.num_asked, "kept": [question.id for question in kept.questions]}
    write_json(out / RECORD, record)
