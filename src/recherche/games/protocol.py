"""Alice reads the first part of a text and sends only her state; Bob goes on from it with a query.

    Alice   tokens -> model.prefill -> state -> quantiser -> bytes
    Bob     bytes -> state -> model.prefill(query, state) -> answer

The message is bytes, so whatever Bob knows of Alice's text is in them: two texts with the same message get the same
answers. Its length is counted and not declared: `message_bits` is 8 times the bytes of the packed state. What every
message of a model shares (magic word, version, fingerprint of the weights, names and shapes) is counted apart.

    RECHERCHE-STATE 1   SHA-256 of the rest   length of the header   header (JSON)   payload (safetensors)

Reference: Wen, Dang & Lyu (2024), Section 4.2 (lower bounds from one-way communication),
https://arxiv.org/abs/2402.18510
"""

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import torch
from jaxtyping import Int
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from recherche.decoding import Decoder
from recherche.errors import StateError
from recherche.games.quantisers import AbstractQuantiser, quantiser_of
from recherche.mixers.state import named_tensors, rebuild

MAGIC = b"RECHERCHE-STATE 1\n"
_LENGTH = struct.Struct("<Q")
_DIGEST_BYTES = 32
_PART = "/"


@runtime_checkable
class StatefulModel(Decoder, Protocol):
    """A model whose state can be sent: it also tells the state before the first token, and its weights."""

    def init_state(self, batch: int, *, dtype: Any = None, device: Any = None) -> Any:
        """The state before the first token."""

    def state_dict(self) -> Mapping[str, Any]:
        """The weights."""


@final
@dataclass(frozen=True, slots=True)
class Message:
    """What Alice sends.

    Attributes:
        data: all of it.
        message_bits: bits of the packed state, of all rows together.
    """

    data: bytes
    message_bits: int

    @property
    def header_bits(self) -> int:
        """Bits of the rest, which are the same for every text of a length."""
        return 8 * len(self.data) - self.message_bits


@torch.inference_mode()
def send(model: StatefulModel, tokens: Int[Tensor, "b t"], quantiser: AbstractQuantiser) -> Message:
    """Alice: read the tokens, send the state.

    Raises:
        StateError: the state has numbers that are not finite.
    """
    _, state = model.prefill(tokens.to(model.device))
    return write_message(model, state, quantiser)


def write_message(model: StatefulModel, state: Any, quantiser: AbstractQuantiser) -> Message:
    """A state as bytes: numbers go through the quantiser, counters are sent as they are.

    Raises:
        StateError: the state has numbers that are not finite.
    """
    parts: dict[str, Tensor] = {}
    tensors: dict[str, dict[str, Any]] = {}
    for path, tensor in named_tensors(state):
        tensors[path] = {"shape": list(tensor.shape), "dtype": str(tensor.dtype)}
        if not tensor.is_floating_point():
            parts[path] = tensor.cpu().contiguous()
            continue
        if not tensor.isfinite().all():
            raise StateError(
                f"A state of finite numbers can be sent, but {path} holds NaN or infinity; check the model."
            )
        for name, part in quantiser.pack(tensor.cpu()).items():
            parts[path + _PART + name] = part.contiguous()
    payload = save(parts)
    header = {
        "model": fingerprint(model),
        "dtype": _dtype_of(model),
        "quantiser": quantiser.name,
        "tensors": tensors,
    }
    text = json.dumps(header).encode()
    message_bits = 8 * sum(part.numel() * part.element_size() for part in parts.values())
    body = _LENGTH.pack(len(text)) + text + payload
    return Message(MAGIC + hashlib.sha256(body).digest() + body, message_bits)


def receive(model: StatefulModel, data: bytes) -> Any:
    """Bob: the state that a message holds.

    Raises:
        StateError: not a message, of another version, damaged, or of another model.
    """
    header, payload = _open(data)
    if header.get("model") != fingerprint(model):
        found = f"the state belongs to model {header.get('model')}"
        if (dtype := header.get("dtype")) != _dtype_of(model):
            found += f", whose weights are {dtype} and not {_dtype_of(model)}"
        raise StateError(f"Model {fingerprint(model)} was to go on, but {found}; use the run that wrote the state.")
    try:
        tensors = _unpacked(header, load(payload))
        batch = next(iter(tensors.values())).shape[0] if tensors else 1
        return rebuild(model.init_state(batch), {path: part.to(model.device) for path, part in tensors.items()})
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError) as error:
        raise StateError(
            f"The state's payload should be what its header says, but it is not: {type(error).__name__}: {error}; "
            "save the state again."
        ) from error


def _unpacked(header: dict[str, Any], parts: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of the state by their paths, at their own dtypes."""
    quantiser, tensors = quantiser_of(header["quantiser"]), {}
    for path, facts in header["tensors"].items():
        own = {name.partition(_PART)[2]: part for name, part in parts.items() if name.partition(_PART)[0] == path}
        dtype = getattr(torch, facts["dtype"].removeprefix("torch."))
        tensor = own[""] if "" in own else quantiser.unpack(own, tuple(facts["shape"]))
        tensors[path] = tensor.to(dtype)
    return tensors


def _dtype_of(model: StatefulModel) -> str:
    """The number format of a model's weights."""
    dtypes = {str(tensor.dtype).removeprefix("torch.") for tensor in model.state_dict().values()}
    return " and ".join(sorted(dtypes))


def fingerprint(model: StatefulModel) -> str:
    """A hash of the weights and of how they are put together."""
    digest = hashlib.sha256(f"{type(model).__name__} {getattr(model, 'config', '')!r}\n".encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:32]


def _open(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and payload of a message.

    Raises:
        StateError: not a message, of another version, truncated or changed.
    """
    word = MAGIC.split(b" ")[0]
    if not data.startswith(MAGIC):
        found = "another version" if data.startswith(word) else "another kind of file"
        raise StateError(
            f"A state begins with {MAGIC.decode().strip()!r}, this is {found}; save it again with this version."
        )
    digest, body = data[len(MAGIC) : len(MAGIC) + _DIGEST_BYTES], data[len(MAGIC) + _DIGEST_BYTES :]
    if hashlib.sha256(body).digest() != digest:
        raise StateError("The state is truncated or was changed: its digest does not fit its content; save it again.")
    (length,) = _LENGTH.unpack(body[: _LENGTH.size])
    text, payload = body[_LENGTH.size : _LENGTH.size + length], body[_LENGTH.size + length :]
    try:
        header = json.loads(text)
    except ValueError as error:
        raise StateError(f"The state's header should be JSON, but it is not: {error}; save the state again.") from error
    if not isinstance(header, dict):
        raise StateError("The state's header should be a JSON object, but it is another value; save the state again.")
    return header, payload
