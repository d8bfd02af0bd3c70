"""Our own models before the contract: a state is a value, so a fork is the state itself.

full      prefill of every prefix           extend   prefill from the carried state
padded    prefill with lengths (right); left padding does not exist for a model that takes lengths
resume    the message of `protocol`, read by a new process

Reference: Gu & Dao (2023), Mamba, Section 3.3, https://arxiv.org/abs/2312.00752
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import load_file
from torch import Tensor

from recherche.errors import StateError
from recherche.games.contract import AbstractSubject, Extension, Reading, Refusal
from recherche.games.protocol import StatefulModel, write_message
from recherche.games.quantisers import Rounded
from recherche.mixers.state import named_tensors


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSubject(AbstractSubject):
    """A model with prefill, step and state.

    Attributes:
        model: the model.
        label: what the report calls it.
        vocab: number of tokens.
        recipe: Python statements after which `model` is this model, for a new process and for scripts.
    """

    model: StatefulModel
    label: str
    vocab: int
    recipe: str

    @property
    def name(self) -> str:
        """The label."""
        return self.label

    @property
    def vocab_size(self) -> int:
        """Number of tokens."""
        return self.vocab

    def full(self, tokens: Int[Tensor, "b t"]) -> list[Reading]:
        """All positions at once."""
        if callable(self.model):
            return [Reading(logits) for logits in self.model(tokens).unbind(dim=1)]
        return [self.extend(tokens[:, : end + 1], None).readings[-1] for end in range(tokens.shape[1])]

    def extend(self, tokens: Int[Tensor, "b t"], cache: Any) -> Extension:
        """Prefill from the state; a single token is a step."""
        if cache is not None and tokens.shape[1] == 1:
            logits, state = self.model.step(tokens[:, 0], cache)
        else:
            logits, state = self.model.prefill(tokens, cache)
        return Extension([Reading(logits)], state)

    def extend_by_default(self, tokens: Int[Tensor, "b t"], cache: Any) -> Extension:
        """Positions are never given.

        Raises:
            Refusal: always.
        """
        raise Refusal("positions are the model's own business")

    def padded(
        self, tokens: Int[Tensor, "b t"], real: Bool[Tensor, "b t"], then: Int[Tensor, "b n"]
    ) -> Float[Tensor, "b m v"]:
        """Prefill with lengths, and a step for each token that comes then.

        Raises:
            Refusal: the padding is not on the right.
        """
        if not bool(real[:, 0].all()):
            raise Refusal("rows of different lengths are padded on the right, with lengths")
        logits, state = self.model.prefill(tokens, lengths=real.sum(dim=1))
        readings = [logits]
        for token in then.unbind(dim=1):
            logits, state = self.model.step(token, state)
            readings.append(logits)
        return torch.stack(readings, dim=1)

    def fork(self, cache: Any) -> Any:
        """The state itself."""
        return cache

    def tensors(self, cache: Any) -> dict[str, Tensor]:
        """The state's tensors."""
        return dict(named_tensors(cache))

    def resume(self, cache: Any, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b v"]:
        """Send the state as a message to a new process."""
        tensor = next(iter(self.tensors(cache).values()))
        message = write_message(self.model, cache, Rounded(tensor.dtype))
        body = f"""
from recherche.games.protocol import receive
from recherche.mixers.state import named_tensors
state = receive(model, (folder / "cache").read_bytes())
with torch.inference_mode():
    logits, _ = model.prefill(torch.tensor({tokens.tolist()}), state)
"""
        return in_new_process(self.recipe + body, lambda folder: (folder / "cache").write_bytes(message.data))

    def generate(self, tokens: Int[Tensor, "1 t"], num_new: int, *, from_cache: bool) -> list[int]:
        """One step a token, or the whole text again for each."""
        texts, cache = tokens.clone(), None
        for _ in range(num_new):
            readings, cache = self.extend(
                texts[:, -1:] if from_cache and cache is not None else texts, cache if from_cache else None
            )
            texts = torch.cat([texts, readings[-1].logits.argmax(dim=1, keepdim=True)], dim=1)
        return texts[0, tokens.shape[1] :].tolist()

    def misname(self, cache: Any, tokens: Int[Tensor, "b t"]) -> tuple[str, Float[Tensor, "b v"]]:
        """Python itself refuses an unknown name.

        Raises:
            Refusal: always, if the model takes only the names it knows.
        """
        try:
            return "past_key_values", self.model.prefill(tokens, past_key_values=cache)[0]  # type: ignore[call-arg]
        except TypeError as error:
            raise Refusal(str(error)) from error

    def script(self, check: str) -> str:
        """The check itself, on the same model."""
        return f"""import torch
from recherche.games.contract_checks import findings
from recherche.games.subjects import OwnSubject
{self.recipe.strip()}
subject = OwnSubject(model=model, label={self.label!r}, vocab={self.vocab}, recipe={self.recipe!r})
print(*findings(subject, [{check!r}]))
"""


def in_new_process(source: str, prepare: Callable[[Path], Any]) -> Float[Tensor, "b v"]:
    """The tensor `logits` that a program leaves behind; `folder` holds what `prepare` has written.

    Raises:
        StateError: the program failed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        head = f"import torch\nfrom pathlib import Path\nfolder = Path({name!r})\n"
        tail = (
            '\nfrom safetensors.torch import save_file\nsave_file({"logits": logits.contiguous()}, folder / "logits")\n'
        )
        done = subprocess.run([sys.executable, "-c", head + source + tail], capture_output=True, text=True, check=False)
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1][:160]
            raise StateError(f"A new process was to go on from the state, but it failed: {reason}; run it by hand.")
        return load_file(folder / "logits")["logits"]
