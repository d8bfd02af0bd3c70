import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from recherche._rng import torch_generator
from recherche.errors import CheckpointError
from recherche.training.checkpoint import TrainingState, load_training, load_weights, save_training, save_weights
from recherche.training.muon import Matrix, Muon

STATE = TrainingState(step=3, progress={"level": {"n": 7, "smooth_loss": 0.1}, "generator": {"state": 2**127 + 1}})


class Model(nn.Module):
    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        draw = torch_generator(seed, "checkpoint")
        self.matrix = nn.Parameter(torch.randn(6, 4, generator=draw))
        self.bias = nn.Parameter(torch.randn(6, generator=draw))
        self.optimizers = (Muon([Matrix(self.matrix, (2, 4))]), torch.optim.AdamW([self.bias], fused=True))

    def train_steps(self, num_steps: int) -> None:
        for _ in range(num_steps):
            (self.matrix.square().sum() + self.bias.square().sum()).backward()
            for optimizer in self.optimizers:
                optimizer.step()
                optimizer.zero_grad()


def save(path, model, **kind):
    save_training(path, model, model.optimizers, STATE, config_hash=kind.get("config_hash", "abc"))


def load(path, model, config_hash="abc"):
    return load_training(path, model, model.optimizers, config_hash=config_hash)


def test_a_restored_run_goes_on_as_if_it_had_never_stopped(tmp_path):
    straight, first, second = Model(), Model(), Model(seed=1)
    straight.train_steps(5)
    first.train_steps(3)
    save(tmp_path / "t.safetensors", first)
    assert load(tmp_path / "t.safetensors", second) == STATE
    second.train_steps(2)
    assert all(torch.equal(a, b) for a, b in zip(straight.parameters(), second.parameters(), strict=True))


def test_without_the_optimiser_state_it_would_go_on_otherwise(tmp_path):
    straight, first, second = Model(), Model(), Model(seed=1)
    straight.train_steps(5)
    first.train_steps(3)
    save_weights(tmp_path / "w.safetensors", first, config_hash="abc")
    load_weights(tmp_path / "w.safetensors", second, config_hash="abc")
    second.train_steps(2)
    assert not torch.equal(straight.bias, second.bias)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CheckpointError, match=r"There is no checkpoint .*none\.safetensors; train the run first"):
        load(tmp_path / "none.safetensors", Model())


@pytest.mark.parametrize("kept", [0, 5, 100, -1])
def test_a_truncated_file_is_refused(tmp_path, kept):
    path = tmp_path / "t.safetensors"
    save(path, Model())
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(CheckpointError, match="is damaged"):
        load(path, Model())


def test_a_changed_byte_is_noticed(tmp_path):
    path = tmp_path / "t.safetensors"
    save(path, Model())
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="was changed after it was written"):
        load(path, Model())


def test_a_changed_step_is_noticed(tmp_path):
    path = tmp_path / "t.safetensors"
    save(path, Model())
    content = path.read_bytes()
    assert content.count(b'"step":"3"') == 1
    path.write_bytes(content.replace(b'"step":"3"', b'"step":"9"'))
    with pytest.raises(CheckpointError, match="was changed after it was written"):
        load(path, Model())


def test_an_unchanged_file_passes_the_same_check(tmp_path):
    save(tmp_path / "t.safetensors", Model())
    assert load(tmp_path / "t.safetensors", Model()).step == 3


def test_a_foreign_file_is_refused(tmp_path):
    save_file({"x": torch.zeros(2)}, tmp_path / "t.safetensors")
    with pytest.raises(CheckpointError, match="found 'no format at all'"):
        load(tmp_path / "t.safetensors", Model())


def test_another_configuration_is_refused(tmp_path):
    save(tmp_path / "t.safetensors", Model(), config_hash="abc")
    with pytest.raises(CheckpointError, match="belongs to configuration abc, but xyz was asked for"):
        load(tmp_path / "t.safetensors", Model(), config_hash="xyz")


def test_weights_of_another_shape_are_refused(tmp_path):
    save_weights(tmp_path / "w.safetensors", nn.Linear(3, 2), config_hash="abc")
    with pytest.raises(CheckpointError, match="does not hold this model's weights"):
        load_weights(tmp_path / "w.safetensors", nn.Linear(2, 2), config_hash="abc")


def test_no_temporary_file_stays(tmp_path):
    save(tmp_path / "t.safetensors", Model())
    assert [path.name for path in tmp_path.iterdir()] == ["t.safetensors"]


def test_the_file_is_plain_safetensors(tmp_path):
    save(tmp_path / "t.safetensors", Model())
    assert "model.matrix" in load_file(tmp_path / "t.safetensors")
    size = int.from_bytes((tmp_path / "t.safetensors").read_bytes()[:8], "little")
    header = json.loads((tmp_path / "t.safetensors").read_bytes()[8 : 8 + size])
    assert json.loads(header["__metadata__"]["progress"]) == STATE.progress
