"""All mixers share one new process: starting it costs more than the steps."""

import pytest
import torch
from torch import nn

from recherche._rng import torch_generator
from recherche.errors import StateError
from recherche.mixers import MIXERS
from recherche.mixers.base import AbstractMixer, LayerConfig
from recherche.mixers.contract import CHECKS, ContractError
from recherche.mixers.new_process import Held, build_again, steps_elsewhere

D_MODEL = 16
ELSEWHERE = CHECKS["the_state_goes_on_in_another_process"]


def held_and_here(layer, **read):
    """A state after some text, and the next output in this process."""
    mixer = build_again(layer, D_MODEL).double()
    x = torch.randn(3, 9, D_MODEL, generator=torch_generator(0, "x"), dtype=torch.float64)
    with torch.no_grad():
        _, state = mixer(x, **read)
        return Held(layer, D_MODEL, x[:, 0], state), mixer.step(x[:, 0], state)[0]


@pytest.mark.slow
def test_the_state_of_every_mixer_goes_on_in_another_process():
    ragged = torch.tensor([9, 0, 4])
    cases = {name: held_and_here(layer()) for name, layer in MIXERS.items()}
    cases |= {f"{name}, ragged": held_and_here(layer(), lengths=ragged) for name, layer in MIXERS.items()}
    outputs = steps_elsewhere([held for held, _ in cases.values()])
    wrong = [
        name
        for (name, (_, here)), there in zip(cases.items(), outputs, strict=True)
        if not torch.allclose(here, there, rtol=1e-10, atol=1e-12)
    ]
    assert wrong == []


class Sum(AbstractMixer):
    """y_t = w sum x; `forgetful` keeps a part of the sum outside of the state."""

    def __init__(self, d_model, *, forgetful):
        super().__init__()
        self.weight, self.forgetful, self.outside = nn.Parameter(torch.ones(d_model)), forgetful, 0.0

    def init_state(self, batch, *, dtype=None, device=None):
        return (torch.zeros(batch, len(self.weight), dtype=dtype or self.weight.dtype),)

    def step(self, x_t, state):
        return self.weight * (state[0] + x_t + self.outside), (state[0] + x_t,)

    def forward(self, x, state=None, *, lengths=None):
        total = (0 if state is None else state[0][:, None]) + x.cumsum(1)
        self.outside = 1.0 if self.forgetful else 0.0
        return self.weight * total, (total[:, -1],)


class SumLayer(LayerConfig):
    forgetful: bool = False

    def build(self, d_model, generator=None):
        return Sum(d_model, forgetful=self.forgetful)


def test_what_is_remembered_outside_of_the_state_is_found():
    held, here = held_and_here(SumLayer())
    forgetful, elsewhere = held_and_here(SumLayer(forgetful=True))
    outputs = steps_elsewhere([held, forgetful])
    torch.testing.assert_close(outputs[0], here)
    assert not torch.allclose(outputs[1], elsewhere)


@pytest.mark.slow
def test_the_contract_holds_a_mixer_to_it():
    ELSEWHERE(SumLayer(), D_MODEL)
    with pytest.raises(ContractError, match="the step in another process"):
        ELSEWHERE(SumLayer(forgetful=True), D_MODEL)


def test_a_class_that_the_process_cannot_import_is_named(monkeypatch):
    held, _ = held_and_here(SumLayer())
    monkeypatch.setattr(SumLayer, "__module__", "__main__")
    layer = held.layer.model_copy(update={"mixer": "__main__:SumLayer"})
    with pytest.raises(StateError, match=r"could not go on from the state: .*must be a subclass of LayerConfig"):
        steps_elsewhere([held._replace(layer=layer)])
