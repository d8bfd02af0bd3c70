"""A state on paper: written to a file, read by a process that has never seen the text, and gone on from there.

What a mixer remembers outside of its state's tensors (a cache, a counter, a global) does not survive this.

    here    layer config, input, state -> request.json, tensors.safetensors
    there   the mixer from the same generator, the state from its file -> one step -> outputs.safetensors
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from safetensors.torch import load_file, save_file
from torch import Tensor

from recherche._lookup import IMPORT_VARIABLE, lookup
from recherche.errors import StateError
from recherche.mixers import MIXERS
from recherche.mixers.base import AbstractMixer, LayerConfig, State
from recherche.mixers.state import named_tensors, rebuild

_REQUEST, _TENSORS, _OUTPUTS = "request.json", "tensors.safetensors", "outputs.safetensors"


@final
class Held(NamedTuple):
    """A state after some text, and the input that comes next."""

    layer: LayerConfig
    d_model: int
    x_t: Float[Tensor, "b d"]
    state: State


def build_again(layer: LayerConfig, d_model: int) -> AbstractMixer:
    """The mixer with the same weights in every process."""
    return layer.build(d_model, torch.Generator().manual_seed(0))


def steps_elsewhere(held: Sequence[Held]) -> list[Float[Tensor, "b d"]]:
    """The output of the next step of each mixer, built by `build_again` and run by one new process.

    Raises:
        StateError: the new process has failed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        request = [{"layer": item.layer.model_dump(mode="json"), "d_model": item.d_model} for item in held]
        (folder / _REQUEST).write_text(json.dumps(request))
        tensors: dict[str, Tensor] = {}
        for i, item in enumerate(held):
            named = {"x": item.x_t, **{f"state.{path}": tensor for path, tensor in named_tensors(item.state)}}
            tensors |= {f"{i}.{path}": tensor.detach().clone().contiguous() for path, tensor in named.items()}
        save_file(tensors, folder / _TENSORS)
        done = subprocess.run(
            [sys.executable, "-c", f"from {__name__} import go_on; go_on({name!r})"],
            capture_output=True, text=True, check=False, env=_environment(held),
        )  # fmt: skip
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise StateError(f"A new process could not go on from the state: {reason}; try the same in Python.")
        outputs = load_file(folder / _OUTPUTS)
    return [outputs[str(i)] for i in range(len(held))]


def go_on(folder: str) -> None:
    """Make the steps that `folder` asks for, and write what they give; the new process runs this."""
    request = json.loads((Path(folder) / _REQUEST).read_text())
    tensors, outputs = load_file(Path(folder) / _TENSORS), {}
    for i, item in enumerate(request):
        layer = lookup(MIXERS, item["layer"]["mixer"], what="mixer").model_validate(item["layer"])
        own = {path.removeprefix(f"{i}."): tensor for path, tensor in tensors.items() if path.startswith(f"{i}.")}
        x_t = own["x"]
        mixer = build_again(layer, item["d_model"]).to(x_t.dtype)
        state = rebuild(mixer.init_state(len(x_t)), own, "state")
        with torch.no_grad():
            outputs[str(i)] = mixer.step(x_t, state)[0].contiguous()
    save_file(outputs, Path(folder) / _OUTPUTS)


def _environment(held: Sequence[Held]) -> dict[str, str]:
    """Ours, in which the modules of the layers, imported here already, may be imported there too."""
    homes = {type(item.layer).__module__ for item in held if ":" in item.layer.mixer}
    allowed = ",".join(filter(None, (os.environ.get(IMPORT_VARIABLE, ""), *sorted(homes))))
    return {**os.environ, IMPORT_VARIABLE: allowed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
