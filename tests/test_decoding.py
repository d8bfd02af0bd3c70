"""Decoding from states is held to a loop that recomputes the whole prefix for every token, one text at a time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recherche.decoding import Decoder, EndReason, Generation, Session, generate
from recherche.errors import ConfigError
from recherche.models.config import AttentionLayer, LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel

VOCAB_SIZE, START, END, ANSWER, FOUND = 12, 1, 2, 3, 4

MAMBA = MambaLayer(d_state=4)
ATTENTION = AttentionLayer(n_heads=2, d_ffn=32)


class Memory(NamedTuple):
    hidden: torch.Tensor


class RandomRNN:
    """h' = tanh(E[x] + W h), logits = U h: every token it has read changes what it writes next."""

    device = torch.device("cpu")

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.embedding = 2 * torch.randn(VOCAB_SIZE, 16, generator=generator, dtype=torch.float64)
        self.recurrence = torch.randn(16, 16, generator=generator, dtype=torch.float64) / 3
        self.head = torch.randn(16, VOCAB_SIZE, generator=generator, dtype=torch.float64)
        self.num_steps = 0

    def step(self, token: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        self.num_steps += len(token)
        hidden = torch.tanh(self.embedding[token] + state[0].hidden @ self.recurrence)
        return hidden @ self.head, (Memory(hidden),)

    def prefill(
        self, tokens: torch.Tensor, state: Any = None, *, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Any]:
        hidden = torch.zeros(len(tokens), 16, dtype=torch.float64) if state is None else state[0].hidden
        lengths = torch.full((len(tokens),), tokens.shape[1]) if lengths is None else lengths
        for t in range(tokens.shape[1]):
            after = torch.tanh(self.embedding[tokens[:, t]] + hidden @ self.recurrence)
            hidden = torch.where((t < lengths)[:, None], after, hidden)
        return hidden @ self.head, (Memory(hidden),)


class Script(NamedTuple):
    rest: torch.Tensor


class Reciter(RandomRNN):
    """Writes what it is told, whatever it reads: row i of `lines`, one token per step."""

    def __init__(self, *lines: Sequence[int]) -> None:
        self.lines = torch.tensor([[*line, *[0] * (40 - len(line))] for line in lines])

    def step(self, token: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        rest = state[0].rest
        return torch.nn.functional.one_hot(rest[:, 0], VOCAB_SIZE).double(), (Script(rest[:, 1:]),)

    def prefill(
        self, tokens: torch.Tensor, state: Any = None, *, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Any]:
        return self.step(tokens[:, -1], (Script(self.lines),))


class Doubling:
    """Finds, for a query START x y .. END, the tokens FOUND x y ..; records all it hears."""

    def __init__(self) -> None:
        self.heard: list[int] = []
        self.num_finished = 0

    @property
    def in_query(self) -> bool:
        return START in self.heard and END not in self.heard[self._last_start() :]

    def _last_start(self) -> int:
        return len(self.heard) - 1 - self.heard[::-1].index(START)

    def feed(self, token: int) -> tuple[int, ...]:
        was_open = self.in_query
        self.heard.append(token)
        return (FOUND, *self.heard[self._last_start() + 1 : -1]) if token == END and was_open else ()

    def finish(self) -> None:
        self.num_finished += 1


class Interrupting:
    """Appends two tokens after every third one."""

    in_query = False

    def __init__(self) -> None:
        self.num_heard = 0

    def feed(self, token: int) -> tuple[int, ...]:
        self.num_heard += 1
        return ((token + self.num_heard) % VOCAB_SIZE, token) if self.num_heard % 3 == 0 else ()

    def finish(self) -> None:
        pass


def recompute_each_prefix(model: Any, prompt: Sequence[int], session: Any, budget: int) -> list[int]:
    """The oracle: one text, the whole prefix read again for each token."""
    new: list[int] = []
    while len(new) < budget:
        tokens = torch.tensor([[*prompt, *new]])
        logits = model(tokens)[0, -1] if isinstance(model, LanguageModel) else model.prefill(tokens)[0]
        token = int(logits.argmax())
        is_answer = token == ANSWER and not session.in_query
        new.append(token)
        found = session.feed(token)
        if is_answer:
            break
        new.extend(found)
    return new[:budget]


def prompt_of(*ids: int) -> np.ndarray:
    return np.array(ids, dtype=np.int64)


def run(
    model: Decoder, *prompts: np.ndarray, budget: Any = 30, sessions: Sequence[Session] | None = None
) -> list[Generation]:
    return generate(model, prompts, sessions=sessions, stop_ids=[ANSWER], max_new_tokens=budget)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), num_rows=st.integers(1, 9))
def test_a_batch_writes_what_recomputing_each_prefix_writes(seed: int, num_rows: int) -> None:
    rng = np.random.default_rng(seed)
    model = RandomRNN(seed)
    prompts = [rng.integers(0, VOCAB_SIZE, size=rng.integers(1, 8)) for _ in range(num_rows)]
    budgets = rng.integers(1, 40, size=num_rows)
    sessions = [Doubling() for _ in prompts]
    generations = generate(model, prompts, sessions=sessions, stop_ids=[ANSWER], max_new_tokens=budgets)
    for prompt, generation, budget in zip(prompts, generations, budgets.tolist(), strict=True):
        assert generation.tokens.tolist() == recompute_each_prefix(model, prompt.tolist(), Doubling(), budget)


@pytest.mark.parametrize(
    "layers",
    [(MAMBA, MAMBA), (ATTENTION, ATTENTION), (MAMBA, ATTENTION)],
    ids=["mamba", "transformer", "hybrid"],
)
def test_language_models_write_what_recomputing_each_prefix_writes(layers: tuple[Any, ...]) -> None:
    generator = torch.Generator().manual_seed(5)
    model = LanguageModel(LanguageModelConfig(d_model=16, vocab_size=VOCAB_SIZE, layers=layers), generator).double()
    rng = np.random.default_rng(5)
    prompts = [rng.integers(0, VOCAB_SIZE, size=length) for length in (3, 9, 1, 6, 6, 2)]
    budgets = [25, 30, 4, 22, 9, 30]
    generations = run(model, *prompts, sessions=[Interrupting() for _ in prompts], budget=np.array(budgets))
    with torch.inference_mode():
        expected = [
            recompute_each_prefix(model, prompt.tolist(), Interrupting(), budget)
            for prompt, budget in zip(prompts, budgets, strict=True)
        ]
    assert [generation.tokens.tolist() for generation in generations] == expected


def test_the_oracle_notices_a_model_that_forgets_forced_tokens() -> None:
    class Forgetful(RandomRNN):
        def step(self, token: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
            _, after = super().step(token, state)
            kept = torch.where((token == FOUND)[:, None], state[0].hidden, after[0].hidden)
            return kept @ self.head, (Memory(kept),)

    def differs(seed: int) -> bool:
        prompt = prompt_of(5, 6)
        (generation,) = run(Forgetful(seed), prompt, sessions=[Doubling()], budget=40)
        return generation.tokens.tolist() != recompute_each_prefix(Forgetful(seed), prompt.tolist(), Doubling(), 40)

    assert any(differs(seed) for seed in range(40))


def test_what_a_session_returns_is_written_and_marked_as_retrieved() -> None:
    model = Reciter([START, 7, 8, END, 0, 0, 0, 9, ANSWER])
    (generation,) = run(model, prompt_of(5), sessions=[Doubling()])
    assert generation.tokens.tolist() == [START, 7, 8, END, FOUND, 7, 8, 9, ANSWER]
    assert generation.generated.tolist() == [True, True, True, True, False, False, False, True, True]
    assert (generation.answer, generation.reason) == (ANSWER, EndReason.ANSWER)


def test_control_and_answer_tokens_in_the_prompt_do_nothing() -> None:
    session = Doubling()
    (generation,) = run(Reciter([END, 9, ANSWER]), prompt_of(START, 7, END, ANSWER, START), sessions=[session])
    assert generation.tokens.tolist() == [END, 9, ANSWER]
    assert session.heard == [END, 9, ANSWER]


def test_retrieved_tokens_are_not_heard_and_do_not_answer() -> None:
    session = Doubling()
    (generation,) = run(Reciter([START, ANSWER, END, 0, 0, 9, ANSWER]), prompt_of(5), sessions=[session])
    assert generation.tokens.tolist() == [START, ANSWER, END, FOUND, ANSWER, 9, ANSWER]
    assert session.heard == [START, ANSWER, END, 9, ANSWER]


def test_an_answer_token_ends_a_text_only_outside_a_query() -> None:
    script = [START, ANSWER, END, 0, 0, ANSWER]
    (within,) = run(Reciter(script), prompt_of(5), sessions=[Doubling()])
    (without_session,) = run(Reciter(script), prompt_of(5))
    assert len(within.tokens) == 6
    assert len(without_session.tokens) == 2


def test_a_text_without_an_answer_ends_with_its_own_budget() -> None:
    model = Reciter([9] * 20, [9] * 20, [9, ANSWER])
    short, long, answered = run(model, prompt_of(5), prompt_of(5), prompt_of(5), budget=np.array([3, 7, 7]))
    assert [len(g.tokens) for g in (short, long, answered)] == [3, 7, 2]
    assert [g.reason for g in (short, long, answered)] == [EndReason.BUDGET, EndReason.BUDGET, EndReason.ANSWER]
    assert (short.answer, long.answer, answered.answer) == (None, None, ANSWER)


def test_a_result_longer_than_the_budget_is_cut() -> None:
    (generation,) = run(Reciter([START, 7, 8, 9, END]), prompt_of(5), sessions=[Doubling()], budget=7)
    assert generation.tokens.tolist() == [START, 7, 8, 9, END, FOUND, 7]
    assert generation.answer is None


def test_every_session_is_finished_once() -> None:
    sessions = [Doubling(), Doubling(), Doubling()]
    run(Reciter([ANSWER], [9, 9, ANSWER], [9] * 9), *[prompt_of(5)] * 3, sessions=sessions, budget=6)
    assert [session.num_finished for session in sessions] == [1, 1, 1]


def test_rows_that_have_ended_leave_the_batch() -> None:
    class Counting(Reciter):
        rows_read = 0

        def step(self, token: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
            self.rows_read += len(token)
            return super().step(token, state)

    model = Counting(*[[ANSWER]] * 7, [9] * 20)
    run(model, *[prompt_of(5)] * 8, budget=20)
    assert model.rows_read == 8 + 19


@pytest.mark.parametrize(
    ("prompts", "sessions", "budget", "message"),
    [
        ([], None, 5, "at least one token"),
        ([prompt_of()], None, 5, "at least one token"),
        ([prompt_of(5)], None, 0, "each at least 1; got 1 with minimum 0"),
        ([prompt_of(5)], None, np.array([3, 4]), "each of the 1 prompts"),
        ([prompt_of(5)], [], 5, "one session each, got 0"),
    ],
    ids=["no prompt", "empty prompt", "no budget", "budgets of another batch", "missing sessions"],
)
def test_a_call_that_makes_no_sense_says_what_to_do(prompts: Any, sessions: Any, budget: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run(Reciter([ANSWER]), *prompts, sessions=sessions, budget=budget)
