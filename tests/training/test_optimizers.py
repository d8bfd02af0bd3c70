import pytest
import torch

from recherche.models.language_model import LanguageModel
from recherche.models.sizes import model_config
from recherche.training.muon import Muon
from recherche.training.optimizers import Adam, MuonAdamW


def model(architecture):
    return LanguageModel(model_config(architecture, "quick-cot", vocab_size=20))


@pytest.mark.parametrize("architecture", ["transformer", "mamba", "hybrid"])
@pytest.mark.parametrize("optimizer", [Adam(lr=1e-3), MuonAdamW()], ids=["adam", "muon"])
def test_every_weight_belongs_to_exactly_one_optimiser(architecture, optimizer):
    built = model(architecture)
    owned = [id(w) for part in optimizer.build(built) for group in part.param_groups for w in group["params"]]
    assert sorted(owned) == sorted(id(w) for w in built.parameters() if w.requires_grad)


@pytest.mark.parametrize("architecture", ["transformer", "mamba", "hybrid"])
def test_muon_takes_matrices_of_the_hidden_stream_only(architecture):
    built = model(architecture)
    muon, adamw = MuonAdamW().build(built)
    assert isinstance(muon, Muon)
    assert isinstance(adamw, torch.optim.AdamW)
    hidden = {id(w) for w in muon.param_groups[0]["params"]}
    names = {name.rsplit(".", 2)[-2] for name, w in built.named_parameters() if id(w) in hidden}
    assert names <= {"qkv_proj", "out_proj", "gate_up_proj", "in_proj", "x_proj"}
    assert id(built.head) not in hidden


def test_the_paper_has_adam_without_weight_decay():
    [adam] = Adam(lr=1e-3).build(model("mamba"))
    assert adam.param_groups[0]["weight_decay"] == 0.0
