"""A sound model passes every check; for each check there is a model that is broken just there, and it is caught."""

import math
from typing import Any

import pytest
import torch

from recherche.games.contract import AbstractSubject, Finding
from recherche.games.contract_checks import CHECKS, LENGTH, TOLERANCE, findings, relative_error, sample_tokens
from recherche.games.subjects import OwnSubject
from recherche.mixers import MIXERS
from recherche.models.config import AttentionLayer, LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel

TOY = '''
import torch
from typing import NamedTuple

class Memory(NamedTuple):
    hidden: torch.Tensor

class Toy:
    """h' = tanh(E[x] + W h); `defect` says how its steps or its prefill are broken."""

    device = torch.device("cpu")

    def __init__(self, defect):
        draw = torch.Generator().manual_seed(0)
        self.defect, self.outside = defect, None
        self.embedding = torch.randn(20, 8, generator=draw)
        self.recurrence = torch.randn(8, 8, generator=draw) / 3
        self.head = torch.randn(8, 20, generator=draw)

    def state_dict(self):
        return {"embedding": self.embedding}

    def init_state(self, batch, *, dtype=None, device=None):
        return (Memory(torch.zeros(batch, 8)),)

    def after(self, token, hidden):
        return torch.tanh(self.embedding[token] + hidden @ self.recurrence)

    def __call__(self, tokens):
        hidden, logits = torch.zeros(len(tokens), 8), []
        for token in tokens.T:
            hidden = self.after(token, hidden)
            logits.append(hidden @ self.head)
        return torch.stack(logits, dim=1)

    def recalled(self, state):
        if self.defect != "state outside":
            return state[0].hidden
        return state[0].hidden * 0 if self.outside is None else self.outside

    def step(self, token, state):
        hidden = self.recalled(state)
        if self.defect == "another step":
            token = token * 0
        after = self.after(token, hidden[:, :8])
        if self.defect == "forgetful step":
            after = torch.where((token == 7)[:, None], hidden[:, :8], after)
        self.outside = after
        if self.defect == "in place":
            after = state[0].hidden.copy_(after)
        if self.defect == "growing":
            return after @ self.head, (Memory(torch.cat([after, hidden[:, 8:], after[:, :2]], dim=1)),)
        return after @ self.head, (Memory(after),)

    def prefill(self, tokens, state=None, *, lengths=None, **others):
        if others and self.defect != "swallows":
            raise TypeError(f"unexpected argument {next(iter(others))}")
        hidden = torch.zeros(len(tokens), 8) if state is None else self.recalled(state)[:, :8]
        if self.defect == "drops the state" and tokens.shape[1] > 1:
            hidden = hidden * 0
        if self.defect == "drops the window":  # of a convolution: a part of the channels
            hidden = torch.cat([hidden[:, :1] * 0, hidden[:, 1:]], dim=1)
        last = hidden
        for t, token in enumerate(tokens.T):
            after = self.after(token, hidden)
            real = torch.ones(len(tokens), 1) if lengths is None else (t < lengths)[:, None]
            last = torch.where(real.bool(), after, last)
            hidden = after if self.defect in ("padded state", "ignores lengths") else last
        logits = hidden if self.defect == "ignores lengths" else last
        grown = torch.zeros(len(tokens), 2 * tokens.shape[1] if self.defect == "growing" else 0)
        self.outside = hidden
        return logits @ self.head, (Memory(torch.cat([hidden, grown], dim=1)),)
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
MAMBA, ATTENTION = MambaLayer(d_state=4), AttentionLayer(n_heads=2, d_ffn=32)
MODELS = [pytest.param((layer(),), id=name, marks=pytest.mark.slow) for name, layer in MIXERS.items()]


@pytest.mark.parametrize("layers", [pytest.param((MAMBA, ATTENTION), id="hybrid"), *MODELS])
def test_models_of_all_our_mixers_pass_all_of_it(layers: Any) -> None:
    """In one process; `mixers/test_new_process.py` lets them all go on in another."""
    model = LanguageModel(LanguageModelConfig(d_model=16, vocab_size=20, layers=layers)).eval()
    outcomes = list(findings(OwnSubject(model=model, label="ours", vocab=20, recipe=""), IN_PROCESS))
    assert [finding for finding in outcomes if finding.passed is False] == []
    does_not_apply = [finding.check for finding in outcomes if finding.passed is None]
    assert does_not_apply == ["positions by default", "left padding", "on after left padding", "growth"]
    growth = outcomes[-1].note.partition(",")[0].partition(" ")[0]
    assert growth in (("linear", "capped") if any(layer.state_grows for layer in layers) else ("constant", "capped"))


@pytest.mark.slow
def test_a_state_is_resumed_in_a_new_process() -> None:
    assert outcome(toy("none"), "new process").passed


def test_a_sound_toy_passes() -> None:
    assert [f.check for f in findings(toy("none"), IN_PROCESS) if f.passed is False] == []


CHUNKED = {"chunks of 2", "chunks of 3", "chunks of 7", "chunks of 64"}


@pytest.mark.parametrize(
    ("defect", "checks"),
    [
        ("forgetful step", {"token by token", "generate"}),
        ("another step", {"token by token", "chunks of 2", "on after right padding", "generate"}),
        ("drops the state", CHUNKED),
        ("drops the window", CHUNKED),
        ("ignores lengths", {"right padding", "on after right padding"}),
        ("padded state", {"on after right padding"}),
        ("in place", {"fork"}),
        ("state outside", {"fork"}),
        ("swallows", {"wrong name"}),
    ],
)
def test_a_broken_model_is_caught_by_exactly_the_checks_of_its_defect(defect: str, checks: set[str]) -> None:
    assert {finding.check for finding in findings(toy(defect), IN_PROCESS) if finding.passed is False} == checks


@pytest.mark.slow
def test_what_is_remembered_outside_of_the_state_is_lost_in_a_new_process() -> None:
    assert outcome(toy("state outside"), "new process").passed is False


def test_a_failure_names_its_first_position_and_its_error() -> None:
    subject = toy("forgetful step")
    finding = outcome(subject, "token by token")
    tokens = sample_tokens(subject, 2, LENGTH)
    assert finding.position == int((tokens == 7).any(dim=0).int().argmax())
    assert TOLERANCE < finding.error < math.inf


def test_a_growing_state_is_called_linear() -> None:
    assert outcome(toy("growing"), "growth").note.startswith("linear, 64 bits a token")
    assert outcome(toy("none"), "growth").note == "constant, 256 bits"


def test_a_state_that_shrinks_is_called_varying() -> None:
    subject = toy("none")
    prefill = subject.model.prefill

    def emptied(tokens: torch.Tensor, state: Any = None) -> Any:
        logits, ((hidden,),) = prefill(tokens, state)
        return logits, ((hidden[:, : 8 if tokens.shape[1] < 128 else 4],),)

    subject.model.prefill = emptied  # type: ignore[method-assign]
    assert outcome(subject, "growth").note == "varies, at most 256 bits"


def test_what_a_model_raises_is_a_finding() -> None:
    subject = toy("none")
    subject.model.step = lambda token, state: 1 / 0  # type: ignore[method-assign]
    finding = outcome(subject, "token by token")
    assert finding.passed is False
    assert finding.note == "ZeroDivisionError: division by zero"


def test_a_failure_that_nobody_promised_to_avoid_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OwnSubject, "unpromised", {"fork": "states are not to be kept"}, raising=False)
    finding = outcome(toy("in place"), "fork")
    assert finding.passed is None
    assert finding.error > TOLERANCE
    assert finding.note == "states are not to be kept"
    assert outcome(toy("none"), "fork").passed


def test_what_is_not_a_number_is_infinitely_wrong() -> None:
    assert relative_error(torch.tensor([float("nan")]), torch.ones(1)) == math.inf
    assert relative_error(torch.tensor([1.5, 2.0]), torch.tensor([1.0, 2.0])) == 0.25
