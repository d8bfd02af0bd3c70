"""A construction on disk: the weights as safetensors, the shape as JSON.

Reference: Wen, Dang & Lyu (2024), Section 3, https://arxiv.org/abs/2402.18510
"""

import json
from pathlib import Path

from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from recherche._files import replacing
from recherche.constructions.model import ModelShape, PaperModel
from recherche.errors import CheckpointError

WEIGHTS, SHAPE = "model.safetensors", "shape.json"


def save_model(model: PaperModel, folder: Path) -> None:
    """Write `shape.json` and `model.safetensors` into a folder, which is made if it is not there."""
    with replacing(folder / SHAPE) as shape, replacing(folder / WEIGHTS) as weights:
        shape.write_text(json.dumps(model.shape.model_dump(), indent=1) + "\n", encoding="utf-8")
        save_file({name: value.contiguous() for name, value in model.state_dict().items()}, weights)


def load_model(folder: Path) -> PaperModel:
    """The model that `save_model` wrote into a folder.

    Raises:
        CheckpointError: a file is missing or damaged, or the weights are of another shape.
    """
    try:
        shape = ModelShape.model_validate_json((folder / SHAPE).read_text(encoding="utf-8"))
        model = PaperModel(shape)
        model.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, ValidationError, SafetensorError, RuntimeError) as error:
        raise CheckpointError(
            f"{folder} holds no construction that can be read: {error}; write it again with `recherche prove --export`."
        ) from error
    return model
