"""Accuracy by generation against scores counted by hand; Wilson's interval against its definition and a table."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
import pytest
import torch

from recherche.errors import ConfigError
from recherche.evaluation import evaluate_generated, evaluate_teacher_forced, wilson_interval
from recherche.queries import FirstEdge, Query
from recherche.tasks.base import AbstractTask, Batch, Example
from recherche.vocab import BEGIN, END_OF_DATA, END_SEARCH, FAILED, NO, START_SEARCH, YES, Vocab

TOKENS = (BEGIN, END_OF_DATA, YES, NO, FAILED, START_SEARCH, END_SEARCH, "~", *(str(i) for i in range(1, 10)))
VOCAB = Vocab(TOKENS)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Odd(AbstractTask):
    """Is the vertex joined to vertex 1 odd? Prompt `<s> 1 ~ v w <d>`, where v and w come from the key."""

    uses_search: bool = False
    size: int = 9
    max_length: int = 11
    vocab: Vocab = VOCAB
    answer_tokens: tuple[str, ...] = (YES, NO)
    chance: float = 0.5
    lower_bound_bits: float = 3.0

    @classmethod
    def configured(cls, *, n: int, protocol: str, **options: Any) -> "Odd":
        return cls(size=n, uses_search=protocol == "retrieval", **options)

    def at_size(self, n: int) -> "Odd":
        return replace(self, size=n)

    def example(self, key: int) -> Example:
        v, w = str(2 + key % 8), str(2 + key // 8 % 8)
        answer = YES if int(v) % 2 else NO
        search = (START_SEARCH, "1", "~", END_SEARCH, v) if self.uses_search else ()
        return Example(
            prompt=(BEGIN, "1", "~", v, w, END_OF_DATA),
            target=(*search, answer),
            loss_mask=(1, 1, 1, 1, 0, 1) if self.uses_search else (1,),
            answer=answer,
            problem={"edges": [[1, int(v)]]},
        )

    def batch(self, keys: np.ndarray) -> Batch:
        examples = [self.example(int(key)) for key in keys]
        rows = [self.vocab.encode(example.prompt + example.target) for example in examples]
        masks = [[0] * len(example.prompt) + list(example.loss_mask) for example in examples]
        return Batch(
            tokens=np.stack(rows),
            loss_mask=np.array(masks, dtype=bool),
            prompt_lengths=np.array([len(example.prompt) for example in examples]),
            lengths=np.array([len(row) for row in rows]),
            answers=self.vocab.encode([example.answer for example in examples]),
            keys=keys,
        )

    def solve(self, problem: dict[str, Any]) -> str:
        return YES if problem["edges"][0][1] % 2 else NO

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        return FirstEdge(tokens[0])


class Script(NamedTuple):
    rest: torch.Tensor


class Reciter:
    """Writes the text it has learnt for each prompt, one token per step, whatever is appended in between."""

    device = torch.device("cpu")

    def __init__(self, task: Odd, texts: dict[int, tuple[str, ...]]) -> None:
        self.texts = {}
        for key, text in texts.items():
            padded = (*text, *[BEGIN] * (20 - len(text)))
            self.texts[tuple(task.vocab.encode(task.example(key).prompt))] = task.vocab.encode(padded)

    def step(self, token: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        rest = state[0].rest
        return torch.nn.functional.one_hot(rest[:, 0], len(TOKENS)).float(), (Script(rest[:, 1:]),)

    def prefill(self, tokens: torch.Tensor, state: Any = None, *, lengths: Any = None) -> tuple[torch.Tensor, Any]:
        lines = np.stack([self.texts[tuple(row)] for row in tokens.tolist()])
        return self.step(tokens[:, -1], (Script(torch.from_numpy(lines)),))


KEYS = np.arange(64, dtype=np.uint64)


def reference_texts(task: Odd) -> dict[int, tuple[str, ...]]:
    return {int(key): task.example(int(key)).target for key in KEYS}


def test_reciting_the_reference_is_always_right() -> None:
    task = Odd()
    result = evaluate_generated(Reciter(task, reference_texts(task)), task, keys=KEYS, batch_size=10)
    assert (result.accuracy, result.high, result.num_exact, result.num_undecided) == (1.0, 1.0, 64, 0)
    assert (result.num_samples, result.num_tokens, result.num_searches) == (64, 64, 0)


def test_wrong_and_undecided_texts_score_nothing_and_one_half() -> None:
    task = Odd()
    texts = reference_texts(task)
    for key in range(8):
        texts[key] = (BEGIN, BEGIN, BEGIN)
    for key in range(8, 20):
        texts[key] = (NO,) if task.example(key).answer == YES else (YES,)
    result = evaluate_generated(Reciter(task, texts), task, keys=KEYS, batch_size=64)
    assert result.accuracy == (44 + 8 / 2) / 64
    assert (result.low, result.high) == wilson_interval(48.0, 64)
    assert (result.num_undecided, result.num_exact) == (8, 44)


def test_an_answer_after_the_budget_does_not_count() -> None:
    task = Odd()
    late = {key: (BEGIN, BEGIN, *text) for key, text in reference_texts(task).items()}
    in_time = {key: (BEGIN, *text) for key, text in reference_texts(task).items()}
    assert evaluate_generated(Reciter(task, late), task, keys=KEYS).num_undecided == 64
    assert evaluate_generated(Reciter(task, in_time), task, keys=KEYS).accuracy == 1.0


def test_searches_run_only_where_the_protocol_has_them() -> None:
    texts = reference_texts(Odd(uses_search=True))
    searching = Odd(uses_search=True)
    result = evaluate_generated(Reciter(searching, texts), searching, keys=KEYS, batch_size=30)
    assert (result.num_searches, result.num_exact) == (64, 64)
    assert evaluate_generated(Reciter(Odd(), texts), Odd(), keys=KEYS).num_searches == 0


def test_what_a_search_appends_comes_from_the_context_and_not_from_the_reference() -> None:
    task = Odd(uses_search=True)
    wrong_query = {key: (START_SEARCH, "8", "~", END_SEARCH, *text[4:]) for key, text in reference_texts(task).items()}
    keys = KEYS[2:4]
    result = evaluate_generated(Reciter(task, wrong_query), task, keys=keys, num_examples=2)
    assert [example["generated"][4] for example in result.examples] == [FAILED, FAILED]


def test_an_example_says_what_was_searched_and_found() -> None:
    task = Odd(uses_search=True)
    result = evaluate_generated(Reciter(task, reference_texts(task)), task, keys=KEYS[3:9], num_examples=2)
    first, second = result.examples
    assert first["edges"] == [[1, 5]]
    assert first["prompt"] == [BEGIN, "1", "~", "5", "2", END_OF_DATA]
    assert first["generated"] == [START_SEARCH, "1", "~", END_SEARCH, "5", YES]
    assert first["retrieved"] == [0, 0, 0, 0, 1, 0]
    assert (first["answer"], first["truth"], second["truth"]) == (YES, YES, NO)
    (search,) = first["searches"]
    assert search["pattern"]
    del search["pattern"]
    assert search == {"query": "1 ~", "status": "OK", "result": ["5"], "span": [3, 4], "position": 3}


def test_progress_is_told_after_each_batch() -> None:
    task, told = Odd(), list[int]()
    evaluate_generated(Reciter(task, reference_texts(task)), task, keys=KEYS, batch_size=30, progress=told.append)
    assert told == [30, 60, 64]


class Reader:
    """Predicts the reference, except for the scored tokens at some places of each row."""

    device = torch.device("cpu")

    def __init__(self, wrong: dict[int, int]) -> None:
        self.wrong = wrong

    def __call__(self, tokens: torch.Tensor) -> torch.Tensor:
        task = Odd(uses_search=True)
        following = torch.zeros_like(tokens)
        following[:, :-1] = tokens[:, 1:]
        odd = torch.tensor([task.vocab.id_of(YES if int(TOKENS[v]) % 2 else NO) for v in tokens[:, 3].tolist()])
        following[:, -1] = odd
        for row, place in self.wrong.items():
            following[row, place] = 0
        return torch.nn.functional.one_hot(following, len(TOKENS)).float()


@pytest.mark.parametrize(
    ("wrong", "per_trace", "per_token"),
    [
        ({}, 1.0, 1.0),
        ({0: 5}, 7 / 8, 39 / 40),
        ({0: 5, 3: 10}, 6 / 8, 38 / 40),
        ({0: 9}, 1.0, 1.0),
        ({0: 0}, 1.0, 1.0),
    ],
    ids=["all right", "first token wrong", "two rows wrong", "a retrieved token wrong", "a prompt token wrong"],
)
def test_teacher_forcing_scores_what_the_model_must_produce(
    wrong: dict[int, int], per_trace: float, per_token: float
) -> None:
    result = evaluate_teacher_forced(Reader(wrong), Odd(uses_search=True), keys=KEYS[:8], batch_size=8)
    assert (result.per_trace, result.per_token) == (per_trace, per_token)
    assert (result.num_samples, result.num_tokens) == (8, 40)


def end_of_interval(successes: float, n: int, *, z: float, side: int) -> float:
    """By definition: the p on one side of p^ that lies z of its own standard deviations from it, by bisection."""
    observed = successes / n
    inside, outside = observed, float(side > 0)
    for _ in range(200):
        p = (inside + outside) / 2
        if abs(observed - p) <= z * (p * (1 - p) / n) ** 0.5:
            inside = p
        else:
            outside = p
    return inside


@pytest.mark.parametrize("n", [1, 2, 7, 100, 5000])
@pytest.mark.parametrize(("confidence", "z"), [(0.95, 1.959963984540054), (0.99, 2.5758293035489004)])
def test_wilson_ends_lie_z_of_their_own_deviations_away(n: int, confidence: float, z: float) -> None:
    for successes in {0, 0.5, n / 2, n - 0.5, n}:
        low, high = wilson_interval(successes, n, confidence=confidence)
        assert low == pytest.approx(end_of_interval(successes, n, z=z, side=-1), abs=1e-9)
        assert high == pytest.approx(end_of_interval(successes, n, z=z, side=+1), abs=1e-9)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_agrees_with_newcombes_table(successes: int, n: int, low: float, high: float) -> None:
    """Newcombe (1998), Two-sided confidence intervals for the single proportion, Table I, method 3."""
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("successes", "n", "confidence"), [(0, 0, 0.95), (5, 4, 0.95), (-1, 4, 0.95), (1, 4, 1.0)])
def test_an_interval_of_nothing_is_refused(successes: float, n: int, confidence: float) -> None:
    with pytest.raises(ConfigError, match="An interval needs n >= 1"):
        wilson_interval(successes, n, confidence=confidence)


@pytest.mark.parametrize(("keys", "batch_size"), [(KEYS[:0], 4), (KEYS, 0)], ids=["no problem", "no batch"])
def test_evaluating_nothing_is_refused(keys: np.ndarray, batch_size: int) -> None:
    task = Odd()
    with pytest.raises(ConfigError, match="at least one problem"):
        evaluate_generated(Reciter(task, reference_texts(task)), task, keys=keys, batch_size=batch_size)
