"""One point of `recherche lm eval`: texts are drawn, answered, graded and counted; resumable between batches.

    FOLDER/samples.jsonl    a line for each answer (see `language_samples`), in the order of the keys

The budget of an answer is twice the tokens of the longest right answer of its batch (searches and passages included),
and a few more. Texts that leave a model no room for a right answer are refused before anything is run.
"""

import json
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from recherche.errors import ConfigError
from recherche.evaluation import BUDGET_FACTOR
from recherche.experiments.cell import Progress
from recherche.experiments.files import read_json_lines, write_json_lines
from recherche.experiments.language_points import LanguagePoint
from recherche.experiments.language_samples import sample_record, tally
from recherche.experiments.language_subject import LanguageSubject
from recherche.experiments.versions import versions
from recherche.lm import Markers
from recherche.text_queries import write
from recherche.texts import AbstractTextTask, Say, TextExample

SPARE_TOKENS = 16
"""A right answer may be cut into tokens in a longer way than the tokenizer would cut it."""

Tell = Callable[[Progress], None]


def measure_point(
    point: LanguagePoint, subject: LanguageSubject, folder: Path, *, batch_size: int, tell: Tell
) -> dict[str, Any]:
    """Answer what is left of a point, and return its line of results.jsonl.

    Args:
        folder: where its samples are.
        batch_size: texts written side by side.
        tell: hears how far it is, after each batch.

    Raises:
        ConfigError: the task or the model cannot do what is asked.
    """
    try:
        task = point.build()
        reason = _why_not(point, task, subject)
    except ConfigError as error:
        return line_of(point, subject) | {"refused": str(error)}
    if reason:
        return line_of(point, subject) | {"refused": reason}
    samples = _answer_all(point, task, subject, folder / "samples.jsonl", batch_size=batch_size, tell=tell)
    return line_of(point, subject) | {
        **tally(samples),
        "state_bits": subject.state_bits(task.example(point.text_keys[0]).prompt),
        "required_bits": task.lower_bound_bits,
    }


def line_of(point: LanguagePoint, subject: LanguageSubject) -> dict[str, Any]:
    """What a line of results.jsonl says of a point before it is measured."""
    facts = subject.facts
    return {
        "point": point.name,
        "folder": point.label,
        "model_type": facts.model_type,
        "num_parameters": facts.num_parameters,
        "task": point.task,
        "protocol": point.protocol,
        "n": point.n,
        "seed": point.sampling.seed,
        "config_hash": point.hash,
        "versions": versions(),
        "device": facts.device,
        "dtype": facts.dtype,
        "refused": None,
    }


def _why_not(point: LanguagePoint, task: AbstractTextTask, subject: LanguageSubject) -> str:
    """Why the texts cannot be given to the model; empty if they can."""
    facts = subject.facts
    if facts.positions is None:
        return ""
    for key in point.text_keys:
        example = task.example(key)
        prompt = subject.count(example.prompt)
        answer = subject.count(right_answer(example, point.protocol, facts.markers))
        if prompt + answer > facts.positions:
            return (
                f"a prompt of {prompt:,} tokens and an answer of {answer} exceed the {facts.positions:,} positions of "
                f"this {facts.model_type} (config.max_position_embeddings); use a smaller n"
            )
    return ""


def _answer_all(
    point: LanguagePoint, task: AbstractTextTask, subject: LanguageSubject, path: Path, *, batch_size: int, tell: Tell
) -> list[dict[str, Any]]:
    """Samples that are there already, and those that are left; each batch is in the file before the next begins."""
    keys = point.text_keys
    samples = read_json_lines(path)[: len(keys)]
    write_json_lines(path, samples)  # a crash can have left a short last line, which none may follow
    left = iter(keys[len(samples) :])
    while batch := list(islice(left, batch_size)):
        new = _answer(point, task, subject, batch)
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(sample) + "\n" for sample in new))
        samples += new
        right = sum(sample["right"] for sample in samples)
        tell(Progress("answer", len(samples), len(keys), f"{right}/{len(samples)} right"))
    return samples


def _answer(
    point: LanguagePoint, task: AbstractTextTask, subject: LanguageSubject, keys: Sequence[int]
) -> list[dict[str, Any]]:
    examples = [task.example(key) for key in keys]
    prompts = [example.prompt for example in examples]
    lengths = [subject.count(prompt) for prompt in prompts]
    longest = max(subject.count(right_answer(example, point.protocol, subject.facts.markers)) for example in examples)
    budget = BUDGET_FACTOR * longest + SPARE_TOKENS
    if subject.facts.positions is not None:
        budget = min(budget, subject.facts.positions - max(lengths))
    started = time.perf_counter()
    answers = subject.write(point.protocol, prompts, max_new_tokens=budget)
    seconds = (time.perf_counter() - started) / len(keys)
    return [
        sample_record(example, written, key=key, prompt_tokens=length, tokens=len(written.tokens), seconds=seconds)
        for key, example, written, length in zip(keys, examples, answers, lengths, strict=True)
    ]


def right_answer(example: TextExample, protocol: str, markers: Markers) -> str:
    """What a model writes that answers rightly by a protocol, passages included."""
    if protocol == "direct":
        return example.target
    parts = []
    for part in example.trace:
        if isinstance(part, Say):
            parts.append(part.text)
        else:
            inserted = markers.nothing if part.found is None else f"{markers.found}{part.found}{markers.close}"
            parts.append(f"{markers.start}{write(part.query)}{markers.end}{inserted}")
    return "".join(parts)
