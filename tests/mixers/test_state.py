from typing import NamedTuple

import pytest
import torch

from recherche.errors import StateError
from recherche.mixers.state import (
    StateShapes,
    bits_by_layer,
    concatenate,
    map_tensors,
    select_rows,
    state_bits,
    tensors_of,
)


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor
    note: object = None


def state(batch):
    return (Pair(torch.arange(batch * 3.0).view(batch, 3), torch.ones(batch, 2, dtype=torch.int32), note="x"), ())


def test_tensors_are_listed_in_order():
    assert [tuple(tensor.shape) for tensor in tensors_of(state(4))] == [(4, 3), (4, 2)]


def test_mapping_keeps_the_structure_and_drops_bookkeeping():
    mapped = map_tensors(lambda tensor: tensor + 1, state(2))
    assert isinstance(mapped[0], Pair)
    assert mapped[0].note is None
    assert torch.equal(mapped[0].left, state(2)[0].left + 1)
    assert mapped[1] == ()


def test_rows_are_taken_in_the_order_asked():
    taken = select_rows(state(4), torch.tensor([3, 0, 3]))
    assert taken[0].left[:, 0].tolist() == [9.0, 0.0, 9.0]


def test_concatenation_undoes_selection():
    whole = state(4)
    parts = [select_rows(whole, torch.tensor(rows)) for rows in ([0], [1, 2, 3])]
    assert torch.equal(concatenate(parts)[0].left, whole[0].left)


def test_states_of_other_shapes_are_not_concatenated():
    with pytest.raises(StateError, match="only if all else agrees, found"):
        concatenate([torch.zeros(1, 2), torch.zeros(1, 3)])


def test_bits_are_those_of_one_row_at_its_dtype():
    assert state_bits(state(7)) == 3 * 32 + 2 * 32
    assert state_bits(map_tensors(torch.Tensor.double, state(7))) == 5 * 64


def test_bits_are_broken_down_by_layer():
    layers = (Pair(torch.zeros(2, 3), torch.zeros(2, 1)), torch.zeros(2, 5))
    assert bits_by_layer(layers) == (4 * 32, 5 * 32)
    assert sum(bits_by_layer(layers)) == state_bits(layers)


@pytest.mark.parametrize(
    ("other", "fits"),
    [
        (Pair(torch.ones(7, 3), torch.ones(7, 2)), True),
        (Pair(torch.ones(7, 3), torch.ones(7, 5)), False),
        (Pair(torch.ones(7, 3), torch.ones(7, 2, 1)), False),
        (Pair(torch.ones(7, 3), None), False),
        (Pair(torch.ones(7, 3), torch.ones(7, 2), torch.ones(7, 1)), False),
        ((torch.ones(7, 3), torch.ones(7, 2)), False),
    ],
    ids=["another batch", "another size", "another rank", "a tensor less", "a tensor more", "another kind"],
)
def test_shapes_tell_kinds_of_states_apart(other, fits):
    assert StateShapes(state(1)[0]).fit(other) == fits


def test_a_growing_state_may_grow_along_one_axis_and_have_more_tensors():
    empty = StateShapes(Pair(torch.ones(1, 4, 0), torch.ones(1, 0, 2)), free_axes=1)
    assert empty.fit(Pair(torch.ones(1, 4, 9), torch.ones(1, 9, 2), torch.ones(1, 9)))
    assert not empty.fit(Pair(torch.ones(1, 5, 9), torch.ones(1, 9, 2)))
    assert str(empty) == "Pair (4, 0) (0, 2)"
