"""What can be done with any state: look at its tensors, map them, take rows, count bits.

A state is a tensor, or a (named) tuple of states: a model's state is the tuple of its layers' states, so one set of
functions serves both. Everything else inside a state is bookkeeping without information, and is None in a copy.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import ne
from typing import TypeVar, final

import torch
from jaxtyping import Int
from torch import Tensor

from recherche.errors import StateError

S = TypeVar("S")


def tensors_of(state: object) -> Iterator[Tensor]:
    """All tensors of a state, in the order of its fields; batch is the first axis of each."""
    if isinstance(state, Tensor):
        yield state
    elif isinstance(state, tuple):
        for part in state:
            yield from tensors_of(part)


def map_tensors(function: Callable[[Tensor], Tensor], state: S) -> S:
    """The same state with `function` applied to each of its tensors."""
    if isinstance(state, Tensor):
        return function(state)  # type: ignore[return-value]
    if isinstance(state, tuple):
        parts = [map_tensors(function, part) for part in state]
        return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)  # type: ignore[return-value]
    return None  # type: ignore[return-value]


def named_tensors(state: object, path: str = "") -> Iterator[tuple[str, Tensor]]:
    """All tensors of a state with their paths, such as `0.ssm`: layer 0, field ssm."""
    if isinstance(state, Tensor):
        yield path, state
    elif isinstance(state, tuple):
        for name, part in zip(_field_names(state), state, strict=True):
            yield from named_tensors(part, f"{path}.{name}" if path else name)


def rebuild(template: S, tensors: Mapping[str, Tensor], path: str = "") -> S:
    """A state built like `template` from the tensors of `named_tensors`; everything else is None."""
    if path in tensors:
        return tensors[path]  # type: ignore[return-value]
    if not isinstance(template, tuple):
        return None  # type: ignore[return-value]
    parts = [
        rebuild(part, tensors, f"{path}.{name}" if path else name)
        for name, part in zip(_field_names(template), template, strict=True)
    ]
    return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)  # type: ignore[return-value]


def _field_names(state: tuple[object, ...]) -> tuple[str, ...]:
    return getattr(state, "_fields", None) or tuple(map(str, range(len(state))))


def select_rows(state: S, rows: Int[Tensor, " r"]) -> S:
    """The state of the rows numbered `rows`, in that order; a row may be taken more than once."""
    return map_tensors(lambda tensor: tensor.index_select(0, rows), state)


def concatenate(states: Sequence[S]) -> S:
    """One state whose batch is that of `states`, one after the other.

    Raises:
        StateError: the states differ in more than their batch (other models, or other numbers of cached tokens).
    """
    tensors = [list(tensors_of(state)) for state in states]
    shapes = [[(tensor.shape[1:], tensor.dtype) for tensor in row] for row in tensors]
    if any(shape != shapes[0] for shape in shapes):
        found = "; ".join(str([tuple(shape) for shape, _ in row]) for row in shapes)
        raise StateError(
            f"States can be concatenated along the batch only if all else agrees, found {found}; "
            "use states of one model that have read equally many tokens."
        )
    joined = iter([torch.cat(column) for column in zip(*tensors, strict=True)])
    return map_tensors(lambda _: next(joined), states[0])


@final
class StateShapes:
    """The kind of a layer's state and the shapes of its tensors, whatever the batch."""

    def __init__(self, state: object, *, free_axes: int = 0) -> None:
        """Look at one state of the kind.

        Args:
            free_axes: along how many axes a tensor may be larger or smaller; 1 for a state that grows.
        """
        self.kind = type(state)
        self.shapes = tuple(tuple(tensor.shape[1:]) for tensor in tensors_of(state))
        self.free_axes = free_axes

    def fit(self, state: object) -> bool:
        """Whether `state` is of this kind and these shapes; a state that has grown may have more tensors too.

        >>> empty = StateShapes((torch.zeros(1, 4, 0, 16),), free_axes=1)
        >>> empty.fit((torch.zeros(3, 4, 7, 16),)), empty.fit((torch.zeros(3, 2, 7, 16),))
        (True, False)
        """
        other = StateShapes(state)
        more = len(other.shapes) - len(self.shapes)
        if self.kind is not other.kind or not 0 <= more <= more * self.free_axes:
            return False
        pairs = zip(self.shapes, other.shapes, strict=False)
        return all(len(a) == len(b) and sum(map(ne, a, b)) <= self.free_axes for a, b in pairs)

    def __str__(self) -> str:
        return f"{self.kind.__name__} {' '.join(map(str, self.shapes))}"


def state_bits(state: object) -> int:
    """Bits of one row of a state: every live tensor, at its dtype.

    >>> state_bits((torch.zeros(5, 3, 2), torch.zeros(5, 4, dtype=torch.float64)))
    448
    """
    return sum(8 * tensor.element_size() * tensor[0].numel() for tensor in tensors_of(state))


def bits_by_layer(state: tuple[object, ...]) -> tuple[int, ...]:
    """`state_bits` of each layer of a model's state, from the first to the last."""
    return tuple(state_bits(layer) for layer in state)
