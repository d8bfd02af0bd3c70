"""What is inside of a model of transformers: the leaves of its cache, and the outputs of its layers.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from torch import Tensor, nn

Leaf = TypeVar("Leaf")


def tensors_in(thing: Any) -> Iterator[tuple[str, Tensor]]:
    """All tensors that an object of transformers leads to, with their paths; modules are not entered."""
    return walk(thing, kind=Tensor)


def walk(thing: Any, path: str = "", *, kind: type[Leaf]) -> Iterator[tuple[str, Leaf]]:
    """All leaves of a kind that an object of transformers leads to, with their paths; modules are not entered."""
    if isinstance(thing, kind):
        yield path, thing
    elif isinstance(thing, dict):
        for name, part in thing.items():
            yield from walk(part, f"{path}.{name}" if path else str(name), kind=kind)
    elif isinstance(thing, list | tuple):
        for place, part in enumerate(thing):
            yield from walk(part, f"{path}.{place}" if path else str(place), kind=kind)
    elif type(thing).__module__.startswith("transformers.") and not isinstance(thing, nn.Module):
        yield from walk(vars(thing) if hasattr(thing, "__dict__") else (), path, kind=kind)


def refill(thing: Any, leaves: Mapping[str, Any], path: str = "") -> Any:
    """The same object with these leaves, named as `walk` names them, in the places of its own."""
    if path in leaves:
        return leaves[path]
    here = f"{path}." if path else ""
    if isinstance(thing, dict):
        thing.update({name: refill(part, leaves, f"{here}{name}") for name, part in thing.items()})
    elif isinstance(thing, list | tuple):
        return type(thing)(refill(part, leaves, f"{here}{place}") for place, part in enumerate(thing))
    elif type(thing).__module__.startswith("transformers.") and hasattr(thing, "__dict__"):
        refill(vars(thing), leaves, path)
    return thing


@contextmanager
def layer_outputs(model: nn.Module) -> Iterator[dict[int, Tensor]]:
    """What each layer of the model's stack puts out while the context is open, by its number from 0."""
    found: dict[int, Tensor] = {}
    depth = model.config.get_text_config().num_hidden_layers  # type: ignore[union-attr, operator]
    stacks = [part for part in model.modules() if isinstance(part, nn.ModuleList) and len(part) == depth]
    hooks = []
    for number, layer in enumerate(stacks[0] if stacks else ()):

        def keep(module: nn.Module, given: Any, output: Any, *, number: int = number) -> None:
            found[number] = output[0] if isinstance(output, tuple) else output

        hooks.append(layer.register_forward_hook(keep))
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()
