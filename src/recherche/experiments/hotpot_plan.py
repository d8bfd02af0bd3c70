"""What `recherche hotpot` is asked: models x protocols x orders x paragraphs, on questions that all models can answer.

The hash of a set of answers covers all that changes them: the files of the model and its tokenizer, the questions and
the examples, protocol, order and number of paragraphs, seed, number type, budget. It covers neither the other models
nor how many questions are kept, so that answers are used again when a model or a question is added.
"""

import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple, final

from recherche._lookup import lookup
from recherche._rng import numpy_generator
from recherche.errors import ConfigError
from recherche.experiments.language_points import distinct_labels, fingerprint_of
from recherche.lm import Markers
from recherche.retrieval import Retriever
from recherche.retrieval.outcome import Status
from recherche.text_queries import TextQuery, write
from recherche.texts.base import Ask
from recherche.texts.hotpot_file import HotpotQuestion, read_hotpot
from recherche.texts.hotpot_prompts import ORDERS, PROTOCOLS, Searching, Shots, arranged, asked, choose_shots

FEWEST, MOST = 2, 10
"""Paragraphs that a question of the official files can be shown with."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """How a model is asked one question: all that changes an answer, beside the model and the question.

    Attributes:
        seed: draws the examples, the order of the questions, the distractors and their order.
        dtype: number type of weights and state; auto is the one that the weights were saved in.
        shots: worked-out examples before each question.
        max_new_tokens: the budget of an answer, what searches insert included.
    """

    seed: int = 0
    dtype: str = "auto"
    shots: int = 4
    max_new_tokens: int = 256

    def __post_init__(self) -> None:
        if self.shots < 0 or self.max_new_tokens < 1:
            raise ConfigError(
                f"A prompt has no fewer than 0 examples and an answer 1 token at least, got {self.shots} and "
                f"{self.max_new_tokens}; raise them."
            )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HotpotPlan:
    """A measurement.

    Attributes:
        folders: the models.
        data: the file of questions.
        shots_file: the file that examples are drawn from; None: the file of questions.
        paragraphs: how many are shown; 2 belongs to them always.
        num: how many questions are kept.
    """

    folders: tuple[Path, ...]
    data: Path
    shots_file: Path | None = None
    paragraphs: tuple[int, ...] = (2, 4, 6, 8)
    orders: tuple[str, ...] = ORDERS
    protocols: tuple[str, ...] = PROTOCOLS
    num: int = 350
    answering: Answering = field(default_factory=Answering)

    def __post_init__(self) -> None:
        for order in self.orders:
            lookup(dict.fromkeys(ORDERS), order, what="order")
        for protocol in self.protocols:
            lookup(dict.fromkeys(PROTOCOLS), protocol, what="protocol")
        if not (self.folders and self.orders and self.protocols) or self.num < 1:
            raise ConfigError(
                "A measurement needs a folder, an order, a protocol and a question at least, got "
                f"{len(self.folders)} folders, orders {list(self.orders)}, protocols {list(self.protocols)} and "
                f"--num {self.num}; name what is missing."
            )
        if not self.paragraphs or not FEWEST <= min(self.paragraphs) <= max(self.paragraphs) <= MOST:
            raise ConfigError(
                f"A question has {MOST} paragraphs, {FEWEST} of which hold its facts, so that --paragraphs are numbers "
                f"from {FEWEST} to {MOST}, got {list(self.paragraphs)}."
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many paragraphs are shown, ascending."""
        return tuple(sorted({FEWEST, *self.paragraphs}))


@final
class HotpotPoint(NamedTuple):
    """A model asked by one protocol, with so many paragraphs in one order.

    Attributes:
        label: what the model is called.
        n: paragraphs.
    """

    label: str
    protocol: str
    order: str
    n: int
    hash: str

    @property
    def name(self) -> str:
        """What the point is called."""
        return f"{self.label}-{self.protocol}-{self.order}-n{self.n}"

    @property
    def folder_name(self) -> str:
        """Where its answers are; with two paragraphs both orders are the same prompt, and share it."""
        middle = "" if self.n == FEWEST else f"-{self.order}"
        return f"{self.label}-{self.protocol}{middle}-n{self.n}-{self.hash}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What is read from the files of a plan.

    Attributes:
        labels: the models by what they are called.
        fingerprints: a hash of the files of each.
        candidates: questions with enough paragraphs that are no examples, in the order in which they are asked.
        num_questions: questions of the file that can be asked at all.
    """

    plan: HotpotPlan
    labels: dict[str, Path]
    fingerprints: dict[str, str]
    candidates: tuple[HotpotQuestion, ...]
    num_questions: int
    shots: Shots

    def point(self, label: str, protocol: str, order: str, *, n: int) -> HotpotPoint:
        """A point with its hash."""
        how = self.plan.answering
        values = {
            "model": self.fingerprints[label],
            "protocol": protocol,
            "order": order if n > FEWEST else "",
            "n": n,
            "shots": [self.shots.direct, self.shots.search][protocol == "search"],
            "data": file_hash(self.plan.data),
            "seed": how.seed,
            "dtype": how.dtype,
            "max_new_tokens": how.max_new_tokens,
        }
        digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]
        return HotpotPoint(label, protocol, order, n, digest)

    def points(self) -> list[HotpotPoint]:
        """All points, model by model, few paragraphs first."""
        plan = self.plan
        orders, protocols = dict.fromkeys(plan.orders), dict.fromkeys(plan.protocols)
        axes = product(self.labels, plan.sizes, protocols, orders)
        return [self.point(label, protocol, order, n=n) for label, n, protocol, order in axes]

    def prompt(self, point: HotpotPoint, question: HotpotQuestion) -> str:
        """What a model is given."""
        shown = arranged(question, point.n, point.order, seed=self.plan.answering.seed)
        return self.shots.prompt(point.protocol, asked(shown, question.question))


def gather(plan: HotpotPlan) -> Material:
    """Read the files of a plan, draw the examples, and put the other questions in the order in which they are asked.

    Raises:
        ConfigError: a folder stands in the plan twice, too few questions are fit for examples, or none is left.
        InputError: a file is not one of HotpotQA's distractor setting, or a folder holds no model.
    """
    labels = dict(zip(distinct_labels(plan.folders), plan.folders, strict=True))
    fingerprints = {label: fingerprint_of(folder) for label, folder in labels.items()}
    questions, seed = read_hotpot(plan.data), plan.answering.seed
    source = questions if plan.shots_file is None else read_hotpot(plan.shots_file)
    shots = choose_shots(source, plan.answering.shots, engine_searching(), seed=seed)
    spent = {*shots.ids, *(question.question for question in source if question.id in shots.ids)}
    fit = [q for q in questions if len(q.paragraphs) >= plan.sizes[-1] and not spent & {q.id, q.question}]
    if not fit:
        raise ConfigError(
            f"No question of {plan.data} is left that is no example and has {plan.sizes[-1]} paragraphs; ask for fewer "
            "--paragraphs or --shots."
        )
    order = numpy_generator(seed, "hotpot-questions").permutation(len(fit)).tolist()
    return Material(
        plan=plan,
        labels=labels,
        fingerprints=fingerprints,
        candidates=tuple(fit[index] for index in order),
        num_questions=len(questions),
        shots=shots,
    )


def engine_searching(markers: Markers | None = None) -> Searching:
    """Searches of the text engine, written as text."""
    retriever, chosen = Retriever(), markers or Markers()
    context_of = lru_cache(maxsize=2)(retriever.text)

    def find(text: str, query: TextQuery) -> str | None:
        passage = context_of(text).query(query)
        return passage.text if passage.status is Status.OK else None

    def spell(ask: Ask) -> str:
        found = chosen.nothing if ask.found is None else f"{chosen.found}{ask.found}{chosen.close}"
        return f"{chosen.start}{write(ask.query)}{chosen.end}{found}"

    return Searching(find, spell)


def file_hash(path: Path) -> str:
    """Hash of the contents of a file."""
    stat = path.stat()
    return _hash_of(path.resolve(), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4)
def _hash_of(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
