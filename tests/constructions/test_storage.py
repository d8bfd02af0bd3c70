"""Weights survive a file; damage is named."""

import pytest
import torch

from recherche.constructions.compiler import compile_program
from recherche.constructions.storage import SHAPE, WEIGHTS, load_model, save_model
from recherche.constructions.theorem_4_6 import cgram_program
from recherche.errors import CheckpointError


def test_a_saved_construction_is_the_same_model(tmp_path):
    model = compile_program(cgram_program(16))
    save_model(model, tmp_path / "ar")
    loaded = load_model(tmp_path / "ar")
    tokens = torch.tensor([[0, 3, 4, 3]])
    assert torch.equal(model(tokens), loaded(tokens))
    assert sorted(path.name for path in (tmp_path / "ar").iterdir()) == [WEIGHTS, SHAPE]


@pytest.mark.parametrize(
    ("name", "content"), [(WEIGHTS, b"damaged"), (SHAPE, b"{}")], ids=["damaged weights", "empty shape"]
)
def test_a_damaged_file_is_refused(tmp_path, name, content):
    save_model(compile_program(cgram_program(16)), tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CheckpointError, match="holds no construction that can be read"):
        load_model(tmp_path)


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="write it again with `recherche prove --export`"):
        load_model(tmp_path / "nowhere")


def test_weights_of_another_program_are_refused(tmp_path):
    save_model(compile_program(cgram_program(16)), tmp_path / "2")
    save_model(compile_program(cgram_program(16, 3)), tmp_path / "3")
    (tmp_path / "3" / SHAPE).replace(tmp_path / "2" / SHAPE)
    with pytest.raises(CheckpointError):
        load_model(tmp_path / "2")
