"""A sound model passes every check; for each check there is a model that is broken just there, and it is caught."""

import math
from typing import Any

import pytest
import torch

from recherche.games.contract import CHECKS, LENGTH, TOLERANCE, AbstractSubject, Finding, findings, sample_tokens
from recherche.games.subjects import OwnSubject
from recherche.models.config import AttentionLayer, LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel

TOY = '''
import torch
from typing import NamedTuple

class Memory(NamedTuple):
    hidden: torch.Tensor

class Toy:
    """h' = tanh(E[x] + W h); `defect` says how it is broken."""

    device = torch.device("cpu")

    def __init__(self, defect):
        draw = torch.Generator().manual_seed(0)
        self.defect, self.secret = defect, torch.zeros(1, 8)
        self.embedding = torch.randn(20, 8, generator=draw)
        self.recurrence = torch.randn(8, 8, generator=draw) / 3
        self.head = torch.randn(8, 20, generator=draw)

    def state_dict(self):
        return {"embedding": self.embedding}

    def init_state(self, batch, *, dtype=None, device=None):
        self.secret = torch.zeros(batch, 8)
        return (Memory(torch.zeros(batch, 8)),)

    def __call__(self, tokens):
        hidden, logits = torch.zeros(len(tokens), 8), []
        for token in tokens.T:
            hidden = torch.tanh(self.embedding[token] + hidden @ self.recurrence)
            logits.append(hidden @ self.head)
        return torch.stack(logits, dim=1)

    def step(self, token, state):
        before = self.secret if self.defect == "hidden state" else state[0].hidden[:, :8]
        after = torch.tanh(self.embedding[token] + before @ self.recurrence)
        self.secret = after
        if self.defect == "forgetful step":
            after = torch.where((token == 7)[:, None], before, after)
        if self.defect == "in place":
            state[0].hidden.copy_(after)
            after = state[0].hidden
        if self.defect == "growing":
            return after @ self.head, (Memory(torch.cat([after, state[0].hidden[:, 8:], after[:, :2]], dim=1)),)
        return after @ self.head, (Memory(after),)

    def prefill(self, tokens, state=None, *, lengths=None, **others):
        if others and self.defect != "swallows":
            raise TypeError(f"unexpected argument {next(iter(others))}")
        if self.defect == "drops chunks" and state is not None and tokens.shape[1] > 1:
            tokens = tokens[:, -1:]
        fresh = state is None
        state = self.init_state(len(tokens)) if fresh else state
        logits = torch.zeros(len(tokens), 20)
        for t, token in enumerate(tokens.T):
            hidden = state[0].hidden[:, :8].clone()
            new_logits, after = self.step(token, (Memory(state[0].hidden.clone()),) if fresh else state)
            real = torch.ones(len(tokens), 1) if lengths is None else (t < lengths)[:, None]
            if self.defect == "ignores lengths":
                real = torch.ones(len(tokens), 1)
            keep = real.bool()
            logits = torch.where(keep, new_logits, logits)
            if keep.all():
                state = after
            else:
                state = (Memory(torch.where(keep, after[0].hidden, state[0].hidden)),)
        return logits, state
'''


def toy(defect: str) -> OwnSubject:
    names: dict[str, Any] = {}
    exec(TOY, names)
    recipe = f"{TOY}\nmodel = Toy({defect!r})\n"
    return OwnSubject(model=names["Toy"](defect), label=defect, vocab=20, recipe=recipe)


def outcome(subject: AbstractSubject, check: str) -> Finding:
    (finding,) = findings(subject, [check])
    return finding


IN_PROCESS = [check for check in CHECKS if check != "new process"]


@pytest.mark.parametrize("family", ["mamba", "transformer", "hybrid"])
def test_our_own_models_pass_all_of_it(family: str) -> None:
    mamba, attention = MambaLayer(d_state=4), AttentionLayer(n_heads=2, d_ffn=32)
    layers = {"mamba": (mamba, mamba), "transformer": (attention,), "hybrid": (mamba, attention)}[family]
    config = LanguageModelConfig(d_model=16, vocab_size=20, layers=layers)
    recipe = f"""
from recherche.models.config import LanguageModelConfig
from recherche.models.language_model import LanguageModel
config = LanguageModelConfig.model_validate_json({config.model_dump_json()!r})
model = LanguageModel(config, torch.Generator().manual_seed(0)).eval()
"""
    model = LanguageModel(config, torch.Generator().manual_seed(0)).eval()
    subject = OwnSubject(model=model, label=family, vocab=20, recipe=recipe)
    outcomes = list(findings(subject, IN_PROCESS))
    assert [finding for finding in outcomes if finding.passed is False] == []
    does_not_apply = [finding.check for finding in outcomes if finding.passed is None]
    assert does_not_apply == ["left padding", "growth"]
    growth = outcomes[-1].note
    assert growth.startswith("constant" if family == "mamba" else "linear")


@pytest.mark.slow
def test_a_state_is_resumed_in_a_new_process() -> None:
    assert outcome(toy("none"), "new process").passed


def test_a_sound_toy_passes() -> None:
    assert [f.check for f in findings(toy("none"), IN_PROCESS) if f.passed is False] == []


@pytest.mark.parametrize(
    ("defect", "check"),
    [
        ("forgetful step", "token by token"),
        ("drops chunks", "chunks of 2"),
        ("drops chunks", "chunks of 3"),
        ("drops chunks", "chunks of 7"),
        ("drops chunks", "chunks of 64"),
        ("ignores lengths", "right padding"),
        ("in place", "fork"),
        pytest.param("hidden state", "new process", marks=pytest.mark.slow),
        ("hidden state", "fork"),
        ("swallows", "wrong name"),
    ],
)
def test_a_broken_model_is_caught(defect: str, check: str) -> None:
    finding = outcome(toy(defect), check)
    assert finding.passed is False, finding
    assert finding.check == check


def test_a_failure_names_its_first_position_and_its_error() -> None:
    subject = toy("forgetful step")
    finding = outcome(subject, "token by token")
    tokens = sample_tokens(subject, 2, LENGTH)
    assert finding.position == int((tokens == 7).any(dim=0).int().argmax())
    assert TOLERANCE < finding.error < math.inf


def test_generating_differently_with_and_without_the_cache_is_caught() -> None:
    """Its prefill is sound, its steps read another token."""
    subject = toy("none")
    step = subject.model.step
    subject.model.prefill = toy("none").model.prefill  # type: ignore[method-assign]
    subject.model.step = lambda token, state: step(torch.zeros_like(token), state)  # type: ignore[method-assign]
    finding = outcome(subject, "generate")
    assert finding.passed is False
    assert finding.position is not None


def test_a_growing_state_is_called_linear() -> None:
    assert outcome(toy("growing"), "growth").note.startswith("linear, 64 bits a token")
    assert outcome(toy("none"), "growth").note == "constant, 256 bits"


def test_what_a_model_raises_is_a_finding() -> None:
    subject = toy("none")
    subject.model.step = lambda token, state: 1 / 0  # type: ignore[method-assign]
    finding = outcome(subject, "token by token")
    assert finding.passed is False
    assert finding.note == "ZeroDivisionError: division by zero"
