"""How often a model is right: by generation on fresh problems, and by teacher forcing under its own name.

By generation, the model works alone: it gets the prompt, writes its trace, makes its own searches on what it has seen,
and is right if the token that ends its text is the answer. A text without an answer within the budget, twice the
longest reference trace of its batch, counts one half (the paper's rule). The 95 % interval is Wilson's,

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n),   p = successes / n, an undecided sample half a success.

By teacher forcing, the model reads the reference trace and predicts each token that it would have to produce; nothing
is generated or searched, so it says how well the trace is learnt and not how often the answer is right.

References: Wen, Dang & Lyu (2024), Appendix B, https://arxiv.org/abs/2402.18510;
Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Int, UInt64
from torch import Tensor

from recherche.batching import IGNORE_INDEX, prompts_of, to_tensors
from recherche.decoding import Decoder, Generation, generate
from recherche.errors import ConfigError
from recherche.retrieval.retriever import Retriever
from recherche.retrieval.session import Search, SearchSession
from recherche.tasks.base import AbstractTask, Batch

BUDGET_FACTOR = 2
"""A model may write twice as many tokens as the longest reference trace of its batch."""


@runtime_checkable
class ParallelModel(Protocol):
    """A model that scores all tokens of a text at once."""

    @property
    def device(self) -> torch.device:
        """Where tokens must lie."""

    def __call__(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b t v"]:
        """Logits of the token after each position."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedAccuracy:
    """Accuracy by generation.

    Attributes:
        accuracy: mean score; right 1, wrong 0, undecided 0.5.
        low: lower end of the 95 % interval.
        high: upper end of the 95 % interval.
        num_undecided: texts without an answer within the budget.
        num_exact: texts equal to the reference trace, token for token.
        num_searches: searches made by all texts together.
        num_tokens: tokens written by all texts together, retrieved ones included.
        examples: records of the first texts (see `example_record`).
    """

    accuracy: float
    low: float
    high: float
    num_samples: int
    num_undecided: int
    num_exact: int
    num_searches: int
    num_tokens: int
    examples: tuple[dict[str, Any], ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherForcedAccuracy:
    """How well reference traces are predicted.

    Attributes:
        per_trace: share of texts with every scored token right.
        per_token: share of scored tokens that are right.
    """

    per_trace: float
    per_token: float
    num_samples: int
    num_tokens: int


def wilson_interval(successes: float | int, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Ends of Wilson's score interval for a proportion.

    >>> low, high = wilson_interval(5, 10)
    >>> round(low, 4), round(high, 4)
    (0.2366, 0.7634)

    Args:
        successes: how many of the `n` trials; halves are allowed.
        confidence: coverage, between 0 and 1.

    Raises:
        ConfigError: there is no trial, or more successes than trials.
    """
    if n < 1 or not 0 <= successes <= n or not 0 < confidence < 1:
        raise ConfigError(
            "An interval needs n >= 1, 0 <= successes <= n and 0 < confidence < 1, "
            f"got {successes} successes in {n} trials at confidence {confidence}."
        )
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p, shrink = successes / n, 1 + z * z / n
    middle = (p + z * z / (2 * n)) / shrink
    half = z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5 / shrink
    return max(0.0, middle - half), min(1.0, middle + half)


def evaluate_generated(
    model: Decoder,
    task: AbstractTask,
    *,
    keys: UInt64[np.ndarray, " n"],
    batch_size: int = 256,
    num_examples: int = 0,
    progress: Callable[[int], None] = lambda num_done: None,
) -> GeneratedAccuracy:
    """Let the model solve the problems that `keys` stand for.

    Args:
        keys: one for each problem (`tasks.base.draw_keys`).
        batch_size: problems decoded side by side.
        num_examples: how many texts to keep as records.
        progress: told the number of problems done, after each batch.
    """
    tally = _Tally(task, num_examples)
    for batch in _batches(task, keys, batch_size):
        sessions = open_sessions(task, prompts_of(batch)) if task.uses_search else None
        tally.add(batch, solve(model, task, batch, sessions=sessions), sessions)
        progress(tally.num_samples)
    return tally.result()


def open_sessions(task: AbstractTask, prompts: Sequence[Int[np.ndarray, " _"]]) -> list[SearchSession]:
    """A search session for each prompt, over a context that holds it."""
    retriever, vocab = Retriever(), task.vocab
    # Rows ask the same queries over and over: each is read once.
    read_query = lru_cache(maxsize=1 << 12)(task.read_query)
    return [
        SearchSession(retriever.context(prompt.tolist(), vocab=vocab), vocab=vocab, read_query=read_query)
        for prompt in prompts
    ]


def solve(
    model: Decoder, task: AbstractTask, batch: Batch, *, sessions: list[SearchSession] | None
) -> list[Generation]:
    """What the model writes after each prompt of the batch, within the budget."""
    return generate(
        model,
        prompts_of(batch),
        sessions=sessions,
        stop_ids=task.vocab.encode(task.answer_tokens).tolist(),
        max_new_tokens=BUDGET_FACTOR * int((batch.lengths - batch.prompt_lengths).max()),
    )


@final
class _Tally:
    """Sums over batches, and the first texts."""

    def __init__(self, task: AbstractTask, num_examples: int) -> None:
        self.task = task
        self.num_examples = num_examples
        self.examples: list[dict[str, Any]] = []
        self.score = 0.0
        self.num_samples = self.num_undecided = self.num_exact = self.num_searches = self.num_tokens = 0

    def add(self, batch: Batch, generations: list[Generation], sessions: list[SearchSession] | None) -> None:
        """Count the texts of one batch."""
        for row, generation in enumerate(generations):
            searches = sessions[row].searches if sessions else ()
            reference = batch.tokens[row, batch.prompt_lengths[row] : batch.lengths[row]]
            undecided = generation.answer is None
            self.score += 0.5 if undecided else float(generation.answer == batch.answers[row])
            self.num_samples += 1
            self.num_undecided += undecided
            self.num_exact += np.array_equal(generation.tokens, reference)
            self.num_searches += len(searches)
            self.num_tokens += len(generation.tokens)
            if len(self.examples) < self.num_examples:
                self.examples.append(example_record(self.task, int(batch.keys[row]), generation, searches=searches))

    def result(self) -> GeneratedAccuracy:
        low, high = wilson_interval(self.score, self.num_samples)
        return GeneratedAccuracy(
            accuracy=self.score / self.num_samples,
            low=low,
            high=high,
            num_samples=self.num_samples,
            num_undecided=self.num_undecided,
            num_exact=self.num_exact,
            num_searches=self.num_searches,
            num_tokens=self.num_tokens,
            examples=tuple(self.examples),
        )


def example_record(
    task: AbstractTask, key: int, generation: Generation, *, searches: Sequence[Search] = ()
) -> dict[str, Any]:
    """One text as JSON data: the problem, the prompt, what was generated, each search and what it found.

    `retrieved` is 1 where a search wrote the token. Of a search, `position` is the index in `generated` of its
    <EndSearch>, `span` where in prompt and generated tokens together the result was found, half open, and `result`
    what was appended, FAILED if nothing was found.
    """
    example = task.example(key)
    return {
        **example.problem,
        "prompt": list(example.prompt),
        "generated": list(task.vocab.decode(generation.tokens)),
        "retrieved": [int(not chosen) for chosen in generation.generated],
        "searches": [_search_record(search, len(example.prompt)) for search in searches],
        "answer": None if generation.answer is None else task.vocab.tokens[generation.answer],
        "truth": example.answer,
    }


def _search_record(search: Search, prompt_length: int) -> dict[str, Any]:
    return {
        "query": " ".join(search.query),
        "pattern": search.pattern,
        "status": search.status.name,
        "result": list(search.tokens),
        "span": None if search.span is None else list(search.span),
        "position": search.query_span[1] - 1 - prompt_length,
    }


@torch.inference_mode()
def evaluate_teacher_forced(
    model: ParallelModel, task: AbstractTask, *, keys: UInt64[np.ndarray, " n"], batch_size: int = 256
) -> TeacherForcedAccuracy:
    """Let the model predict the reference traces of the problems that `keys` stand for.

    Args:
        keys: one for each problem (`tasks.base.draw_keys`).
        batch_size: traces read side by side.
    """
    num_right_traces = num_right_tokens = num_tokens = 0
    for batch in _batches(task, keys, batch_size):
        inputs, targets = to_tensors(batch, device=model.device)
        scored = targets != IGNORE_INDEX
        right = (model(inputs).argmax(dim=-1) == targets) & scored
        num_right_traces += int((right == scored).all(dim=1).sum())
        num_right_tokens += int(right.sum())
        num_tokens += int(scored.sum())
    return TeacherForcedAccuracy(
        per_trace=num_right_traces / len(keys),
        per_token=num_right_tokens / num_tokens,
        num_samples=len(keys),
        num_tokens=num_tokens,
    )


def _batches(task: AbstractTask, keys: UInt64[np.ndarray, " n"], batch_size: int) -> Iterator[Batch]:
    if len(keys) < 1 or batch_size < 1:
        raise ConfigError(
            f"Evaluation needs at least one problem and batch_size >= 1, got {len(keys)} and {batch_size}."
        )
    for start in range(0, len(keys), batch_size):
        yield task.batch(keys[start : start + batch_size])
