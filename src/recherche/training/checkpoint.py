"""Training state on disk: all that the next step depends on, in one safetensors file, written whole or not at all.

The file holds the weights, the optimisers' tensors and, as JSON in the header, the step, the curriculum's level, the
state of the data generator and the hash of the configuration. A digest over all of it is stored beside them, so that a
changed byte is noticed and not trained on. Nothing is ever unpickled.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from recherche._files import replacing
from recherche._tensors import write_tensors
from recherche.errors import CheckpointError

FORMAT = "recherche-training-1"
WEIGHTS_FORMAT = "recherche-weights-1"


class TrainingState(NamedTuple):
    """What is stored beside the weights.

    Attributes:
        step: number of steps done.
        progress: JSON-serialisable values of the run: curriculum level, generator state, counters.
    """

    step: int
    progress: dict[str, Any]


def save_weights(path: Path, model: nn.Module, *, config_hash: str) -> None:
    """Write the weights of `model`, and the hash of the configuration they belong to."""
    _write(path, _named_weights(model), {"format": WEIGHTS_FORMAT, "config_hash": config_hash})


def load_weights(path: Path, model: nn.Module, *, config_hash: str) -> None:
    """Fill `model` with stored weights.

    Raises:
        CheckpointError: the file is missing, damaged or belongs to another configuration.
    """
    tensors, _ = _read(path, WEIGHTS_FORMAT, config_hash)
    _fill(path, model, tensors)


def save_training(
    path: Path,
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    state: TrainingState,
    *,
    config_hash: str,
) -> None:
    """Write all that a resumed run needs to go on exactly as if it had never stopped."""
    tensors = {f"model.{name}": tensor for name, tensor in _named_weights(model).items()}
    for i, optimizer in enumerate(optimizers):
        for j, slots in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{j}.{slot}": tensor for slot, tensor in slots.items()}
    header = {"format": FORMAT, "config_hash": config_hash, "step": str(state.step)}
    _write(path, tensors, header | {"progress": json.dumps(state.progress)})


def load_training(
    path: Path, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer], *, config_hash: str
) -> TrainingState:
    """Fill the model and its optimisers with a stored state, and return the rest of it.

    Raises:
        CheckpointError: the file is missing, damaged or belongs to another configuration.
    """
    tensors, header = _read(path, FORMAT, config_hash)
    _fill(path, model, {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")})
    for i, optimizer in enumerate(optimizers):
        slots: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            if name.startswith(f"optimizer.{i}."):
                _, _, j, slot = name.split(".", 3)
                slots.setdefault(int(j), {})[slot] = tensor
        optimizer.load_state_dict({"state": slots, "param_groups": optimizer.state_dict()["param_groups"]})
    return TrainingState(step=int(header["step"]), progress=json.loads(header["progress"]))


def _named_weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().contiguous() for name, tensor in model.state_dict().items()}


def _fill(path: Path, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise CheckpointError(f"{path} does not hold this model's weights: {error}") from error


def _digest(tensors: Mapping[str, Tensor], header: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(dict(sorted(header.items()))).encode())
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _write(path: Path, tensors: dict[str, Tensor], header: dict[str, str]) -> None:
    with replacing(path) as draft:
        write_tensors(tensors, draft, header | {"digest": _digest(tensors, header)})


def _read(path: Path, expected_format: str, config_hash: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint {path}; train the run first, or name another run folder.")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            header = dict(file.metadata() or {})
        tensors = load_file(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is damaged ({error}); delete it to start this run again.") from error
    stored = header.pop("digest", "")
    if header.get("format") != expected_format:
        found = header.get("format", "no format at all")
        raise CheckpointError(
            f"{path} should be in format {expected_format!r}, found {found!r}; it is not ours to read."
        )
    if stored != _digest(tensors, header):
        raise CheckpointError(f"{path} was changed after it was written; delete it to start this run again.")
    if header["config_hash"] != config_hash:
        raise CheckpointError(
            f"{path} belongs to configuration {header['config_hash']}, but {config_hash} was asked for; "
            "choose another output folder, or go back to the configuration in its config.json."
        )
    return tensors, header
