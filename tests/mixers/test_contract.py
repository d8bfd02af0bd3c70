import pytest
import torch
from torch import nn

from recherche.mixers import MIXERS
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.contract import CHECKS, ContractError, check_mixer
from recherche.mixers.selective_ssm import MambaLayer

D_MODEL = 16
LAYERS = {name: layer() for name, layer in MIXERS.items()} | {
    "attention-grouped": AttentionLayer(n_heads=4, n_kv_heads=2, qk_norm=True),
    "mamba-odd": MambaLayer(d_state=3, expand=1, d_conv=2),
}


ELSEWHERE = "the_state_goes_on_in_another_process"  # all mixers share one: see test_new_process
HERE = {name: check for name, check in CHECKS.items() if name != ELSEWHERE}


@pytest.mark.parametrize("check", HERE.values(), ids=HERE)
@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_every_mixer_keeps_the_contract(layer, check):
    check(layer, D_MODEL)


class MeanSoFar(AbstractMixer):
    """y_t = W mean(x_1..x_t); right unless a way to be wrong is named."""

    def __init__(self, d_model, *, wrong, generator):
        super().__init__()
        self.wrong = wrong
        draw = (
            torch.randn(d_model, d_model) if wrong == "global" else torch.randn(d_model, d_model, generator=generator)
        )
        self.weight = nn.Parameter(draw)

    def init_state(self, batch, *, dtype=None, device=None):
        dtype = dtype or self.weight.dtype
        state = (torch.zeros(batch, self.weight.shape[0], dtype=dtype), torch.zeros(batch, 1, dtype=dtype))
        return (*state, torch.zeros(batch, 0)) if self.wrong == "growth" else state

    def step(self, x_t, state):
        total, count = state[0] + x_t, state[1] + 1
        if self.wrong == "fork":
            state[0].add_(x_t)
        if self.wrong == "hidden":
            self.seen = getattr(self, "seen", 0) + 1
            return (total / (count + self.seen)) @ self.weight, (total, count)
        scale = {"step": 1 + 1e-6, "single": 1 + 1e-2 * (x_t.dtype == torch.float32)}.get(self.wrong, 1)
        return scale * (total / count) @ self.weight, (total, count, *state[2:])

    def forward(self, x, state=None, *, lengths=None):
        if state is None or self.wrong == "carry":
            state = self.init_state(x.shape[0], dtype=x.dtype)
        if self.wrong == "window":  # of a convolution: a part of the state that chunks begin without
            state = (torch.cat([state[0][:, :1] * 0, state[0][:, 1:]], dim=1), state[1])
        real = torch.ones(x.shape[:2], dtype=x.dtype)
        if lengths is not None and self.wrong != "padding":
            real = (torch.arange(x.shape[1]) < lengths[:, None]).to(x.dtype)
        x = x * real[..., None]
        total, count = state[0][:, None] + x.cumsum(1), state[1][:, None] + real.cumsum(1)[..., None]
        if self.wrong == "future":
            total = total + x.sum(1, keepdim=True)
        after = (total[:, -1], count[:, -1])
        if self.wrong == "growth":
            after = (*after, torch.zeros(x.shape[0], x.shape[1] ** 2))
        return (total / count.clamp(min=1)) @ self.weight, after


class MeanLayer(LayerConfig):
    wrong: str = ""

    def build(self, d_model, generator=None):
        return MeanSoFar(d_model, wrong=self.wrong, generator=generator)


def test_a_mixer_of_ones_own_can_be_checked():
    assert [finding for finding in check_mixer(MeanLayer(), d_model=D_MODEL) if finding.problem] == []


@pytest.mark.parametrize(
    ("wrong", "check", "message"),
    [
        ("step", "forward_equals_steps", "outputs from init_state should agree"),
        ("single", "forward_equals_steps", "should agree to a relative 0.0003 in float32"),
        ("carry", "forward_equals_chunks", "should agree to a relative 1e-10"),
        ("window", "forward_equals_chunks", "should agree to a relative 1e-10"),
        ("future", "later_tokens_do_not_matter", "outputs before the change"),
        ("padding", "padding_does_not_matter", "the step after row 0"),
        ("fork", "states_are_values", "the kept state"),
        ("hidden", "the_state_is_in_its_tensors", "the step from a copied state"),
        ("growth", "state_size_is_as_declared", "declare what it does"),
        ("global", "weights_come_from_the_generator", "global generator"),
    ],
)
def test_each_way_to_be_wrong_is_found(wrong, check, message):
    with pytest.raises(ContractError, match=message):
        CHECKS[check](MeanLayer(wrong=wrong), D_MODEL)


def failed_checks(layer):
    for name, check in HERE.items():
        try:
            check(layer, D_MODEL)
        except ContractError:
            yield name


CARRIED = {"forward_equals_steps", "forward_equals_chunks"}


@pytest.mark.parametrize(
    ("wrong", "checks"),
    [
        ("step", {"forward_equals_steps"}),
        ("single", {"forward_equals_steps"}),
        ("carry", {*CARRIED, "padding_does_not_matter"}),
        ("window", {*CARRIED, "padding_does_not_matter"}),
        ("future", {*CARRIED, "later_tokens_do_not_matter"}),
        ("padding", {"padding_does_not_matter"}),
        ("fork", {"states_are_values"}),
        ("growth", {*CARRIED, "state_size_is_as_declared"}),
        ("global", {"weights_come_from_the_generator"}),
    ],
)
def test_no_other_check_fails(wrong, checks):
    """What goes on from a state also fails where that state is wrong."""
    assert set(failed_checks(MeanLayer(wrong=wrong))) == checks


class Lossy(MeanLayer):
    def model_dump_json(self, **options):
        return '{"wrong": "other"}'


class Nameless(MeanLayer):
    mixer: str = "gru"


@pytest.mark.parametrize(
    ("layer", "message"),
    [(Lossy, "changes on its way through JSON"), (Nameless, "No file can name Nameless: its field mixer is 'gru'")],
)
def test_a_config_that_no_file_can_hold_is_found(layer, message):
    with pytest.raises(ContractError, match=message):
        CHECKS["the_config_survives_files"](layer(), D_MODEL)


def test_the_mixer_of_a_config_of_ones_own_is_its_path():
    assert MeanLayer().mixer == f"{__name__}:MeanLayer"
    with pytest.raises(ValueError, match=r"the mixer of MeanLayer is .*, got 'mean'; leave it out"):
        MeanLayer(mixer="mean")
