"""The contract of `base`, as checks that any mixer can be held to, one's own included.

    for name, check in CHECKS.items():
        check(MyLayer(), 16)                    raises ContractError, which says what differs

Each check builds the mixer with weights from a fixed generator and compares two ways of doing the same thing, outputs
and gradients, to a relative 1e-10 in float64 and 3e-4 in float32. Texts have odd lengths: no chunk of a kernel fits by
accident.
"""

from collections.abc import Callable, Iterator
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor

from recherche.errors import RechercheError
from recherche.mixers import MIXERS
from recherche.mixers.base import AbstractMixer, LayerConfig, State
from recherche.mixers.new_process import Held, build_again, steps_elsewhere
from recherche.mixers.state import map_tensors, select_rows, state_bits, tensors_of

_TOLERANCES = {torch.float64: 1e-10, torch.float32: 3e-4}
_BATCH, _LENGTH = 3, 37


class ContractError(RechercheError):
    """A mixer that is not what it must be."""


@final
class Finding(NamedTuple):
    """What one check found.

    Attributes:
        check: its name in `CHECKS`.
        problem: what differs; empty if nothing does.
    """

    check: str
    problem: str


def check_mixer(layer: LayerConfig, *, d_model: int = 16) -> Iterator[Finding]:
    """Hold the mixer of `layer` to every part of the contract, one finding for each."""
    for name, check in CHECKS.items():
        try:
            check(layer, d_model)
        except ContractError as error:
            yield Finding(name, str(error))
        else:
            yield Finding(name, "")


def forward_equals_steps(layer: LayerConfig, d_model: int) -> None:
    """All tokens at once, and one after the other."""
    for dtype in _TOLERANCES:
        mixer, x = _build(layer, d_model, dtype), _inputs(d_model, dtype)
        _same_function(mixer, x, partial(mixer, x), partial(_steps, mixer, x))


def forward_equals_chunks(layer: LayerConfig, d_model: int) -> None:
    """All tokens at once, and in pieces from a carried state."""
    for dtype in _TOLERANCES:
        mixer, x = _build(layer, d_model, dtype), _inputs(d_model, dtype)
        _same_function(mixer, x, partial(mixer, x), partial(_chunks, mixer, x))


def later_tokens_do_not_matter(layer: LayerConfig, d_model: int) -> None:
    """Outputs up to a token do not change with what follows it."""
    mixer, x = _build(layer, d_model), _inputs(d_model)
    changed = torch.cat([x[:, :20], -x[:, 20:]], dim=1)
    _same("outputs before the change", mixer(x)[0][:, :20], mixer(changed)[0][:, :20])


def padding_does_not_matter(layer: LayerConfig, d_model: int) -> None:
    """Rows of different lengths side by side, and each alone; a row of length 0 keeps its state."""
    mixer, x = _build(layer, d_model), _inputs(d_model)
    lengths = torch.tensor([_LENGTH, 5, 20])
    more = torch.tensor([2, 7, 0])
    with torch.no_grad():
        y, state = mixer(x, lengths=lengths)
        _, state = mixer(x[:, :7], state, lengths=more)
        after, _ = mixer.step(x[:, 0], state)
        for row, (length, extra) in enumerate(zip(lengths.tolist(), more.tolist(), strict=True)):
            alone, state = mixer(x[row : row + 1, :length])
            _same(f"outputs of row {row}", y[row, :length], alone[0])
            if extra:
                _, state = mixer(x[row : row + 1, :extra], state)
            _same(f"the step after row {row}", after[row], mixer.step(x[row : row + 1, 0], state)[0][0])


def states_are_values(layer: LayerConfig, d_model: int) -> None:
    """A state that was kept is not changed by going on from it, and going on from it twice gives the same."""
    mixer, x = _build(layer, d_model), _inputs(d_model)
    with torch.no_grad():
        _, state = mixer(x)
        for _ in range(2):
            _, state = mixer.step(x[:, 0], state)
        kept = [tensor.clone() for tensor in tensors_of(state)]
        first, ahead = mixer.step(x[:, 1], state)
        mixer.step(x[:, 2], state)
        mixer(x[:, :5], state)
        second, _ = mixer.step(x[:, 1], state)
        _, _ = mixer.step(x[:, 3], ahead)
    for before, now in zip(kept, tensors_of(state), strict=True):
        _same("the kept state", before, now)
    _same("the same step from a kept state", first, second)


def the_state_is_in_its_tensors(layer: LayerConfig, d_model: int) -> None:
    """A state rebuilt from copies of its tensors, with its rows in another order, goes on the same."""
    mixer, x = _build(layer, d_model), _inputs(d_model)
    order = torch.tensor([2, 0, 1])
    with torch.no_grad():
        _, state = mixer(x)
        _, state = mixer.step(x[:, 0], state)
        copied = select_rows(map_tensors(torch.clone, state), order)
        _same("the step from a copied state", mixer.step(x[order, 1], copied)[0], mixer.step(x[:, 1], state)[0][order])


def state_size_is_as_declared(layer: LayerConfig, d_model: int) -> None:
    """The bits of a state stay the same with every token, or grow by the same number, as the config says."""
    mixer, x = _build(layer, d_model), _inputs(d_model)
    with torch.no_grad():
        sizes = [state_bits(mixer(x[:, :t])[1]) for t in (9, 18, 36)]
    growth = [sizes[1] - sizes[0], (sizes[2] - sizes[1]) / 2]
    if layer.state_grows != (growth[0] > 0) or growth[0] != growth[1]:
        raise ContractError(
            f"state_grows is {layer.state_grows}, but after 9, 18 and 36 tokens the state has {sizes} bits; "
            "declare what it does, and keep its size constant or linear."
        )


def weights_come_from_the_generator(layer: LayerConfig, d_model: int) -> None:
    """Equal generators give equal weights, others give others, and torch's global generator is not touched."""
    before = torch.get_rng_state()
    first, again, other = (_weights(layer, d_model, seed) for seed in (1, 1, 2))
    mixer = layer.build(d_model, torch.Generator().manual_seed(1))
    mixer(torch.ones(1, 3, d_model))
    if not torch.equal(before, torch.get_rng_state()):
        raise ContractError("Building or running the mixer drew from torch's global generator; use the one given.")
    if not torch.equal(first, again) or torch.equal(first, other):
        raise ContractError("Weights must be a function of the generator, and depend on it; draw them from it.")


def the_state_goes_on_in_another_process(layer: LayerConfig, d_model: int) -> None:
    """A state written to a file and read by a new process, with weights drawn again, goes on the same."""
    mixer, x = _build(layer, d_model), _inputs(d_model).detach()
    with torch.no_grad():
        _, state = mixer(x)
        here, _ = mixer.step(x[:, 0], state)
        [there] = steps_elsewhere([Held(layer, d_model, x[:, 0], state)])
        _same("the step in another process", here, there)


def the_config_survives_files(layer: LayerConfig, d_model: int) -> None:
    """A config read back from its JSON is equal to itself, and `MIXERS` finds its class by the mixer's name."""
    if type(layer).model_validate_json(layer.model_dump_json()) != layer:
        raise ContractError(f"{layer!r} changes on its way through JSON; give every field a JSON type.")
    if MIXERS.get(layer.mixer) is not type(layer):
        raise ContractError(
            f"No file can name {type(layer).__name__}: its field mixer is {layer.mixer!r}; leave that field out, "
            "and define the class at the top of a module."
        )


CHECKS: MappingProxyType[str, Callable[[LayerConfig, int], None]] = MappingProxyType(
    {
        check.__name__: check
        for check in (
            forward_equals_steps,
            forward_equals_chunks,
            later_tokens_do_not_matter,
            padding_does_not_matter,
            states_are_values,
            the_state_is_in_its_tensors,
            state_size_is_as_declared,
            weights_come_from_the_generator,
            the_config_survives_files,
            the_state_goes_on_in_another_process,
        )
    }
)
"""Every part of the contract by name."""


def _build(layer: LayerConfig, d_model: int, dtype: torch.dtype = torch.float64) -> AbstractMixer:
    return build_again(layer, d_model).to(dtype)


def _weights(layer: LayerConfig, d_model: int, seed: int) -> Float[Tensor, " w"]:
    mixer = layer.build(d_model, torch.Generator().manual_seed(seed))
    return torch.cat([weight.detach().flatten() for weight in mixer.parameters()])


def _inputs(d_model: int, dtype: torch.dtype = torch.float64) -> Float[Tensor, "b t d"]:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(_BATCH, _LENGTH, d_model, generator=generator, dtype=torch.float64)
    return x.to(dtype).requires_grad_()


def _steps(mixer: AbstractMixer, x: Float[Tensor, "b t d"], state: State) -> tuple[Float[Tensor, "b t d"], State]:
    outputs = []
    for x_t in x.unbind(1):
        y_t, state = mixer.step(x_t, state)
        outputs.append(y_t)
    return torch.stack(outputs, dim=1), state


def _chunks(mixer: AbstractMixer, x: Float[Tensor, "b t d"], state: State) -> tuple[Float[Tensor, "b t d"], State]:
    outputs = []
    for piece in x.split((1, 19, _LENGTH - 20), dim=1):
        y, state = mixer(piece, state)
        outputs.append(y)
    return torch.cat(outputs, dim=1), state


def _same_function(
    mixer: AbstractMixer,
    x: Float[Tensor, "b t d"],
    one: Callable[[State], tuple[Tensor, State]],
    other: Callable[[State], tuple[Tensor, State]],
) -> None:
    """Compare outputs, states, and gradients of both, from the first state and from the one after some tokens."""
    prefix = x.detach()[:, :3].flip(1)
    for start in ("init_state", "a carried state"):
        results = []
        for run in (one, other):
            state = mixer.init_state(x.shape[0], dtype=x.dtype)
            state = state if start == "init_state" else mixer(prefix, state)[1]
            y, after = run(state)
            loss = (y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)).sum()
            loss = loss + sum(t.sin().sum() for t in tensors_of(after) if t.is_floating_point())
            weights = {"x": x, **{name: w for name, w in mixer.named_parameters() if w.requires_grad}}
            slopes = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
            results.append((y, list(tensors_of(after)), dict(zip(weights, slopes, strict=True))))
        (y, after, gradients), (y2, after2, gradients2) = results
        _same(f"outputs from {start}", y, y2)
        for i, (a, b) in enumerate(zip(after, after2, strict=True)):
            _same(f"tensor {i} of the last state from {start}", a, b)
        for name, gradient in gradients.items():
            if gradient is not None or gradients2[name] is not None:
                _same(f"gradient of {name} from {start}", gradient, gradients2[name])


def _same(what: str, a: Tensor | None, b: Tensor | None) -> None:
    if a is None or b is None or a.shape != b.shape:
        raise ContractError(f"{what} should agree, found {_shape(a)} and {_shape(b)}; compute both or neither.")
    scale = max(float(a.detach().abs().max()), 1e-3) if a.numel() else 1.0
    difference = float((a.detach() - b.detach()).abs().max()) / scale if a.numel() else 0.0
    tolerance = _TOLERANCES.get(a.dtype, 0.0)
    if not difference <= tolerance:
        dtype = str(a.dtype).removeprefix("torch.")
        raise ContractError(
            f"{what} should agree to a relative {tolerance:g} in {dtype}, found {difference:.1e}; "
            "compare both with the equation in the mixer's docstring."
        )


def _shape(tensor: Tensor | None) -> str:
    return "nothing" if tensor is None else str(tuple(tensor.shape))
