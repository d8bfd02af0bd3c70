import pytest
import torch

from recherche.kernels.decayed_recurrence import decayed_recurrence
from recherche.kernels.matrix_recurrence import CHUNK
from tests.kernels.recurrences import DECAY, K, assert_same_values_and_gradients, problem

DECAY_OF_EACH_ROW = (K, *DECAY[1:])


def by_definition(q, k, v, decay, state):
    outputs = []
    for i in range(q.shape[2]):
        state = decay[:, :, i, :, None] * state + k[:, :, i, :, None] * v[:, :, i, None]
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], state))
    return torch.stack(outputs, dim=2), state


@pytest.mark.parametrize(
    ("t", "gate"), [(1, DECAY), (CHUNK, DECAY), (2 * CHUNK + 5, DECAY_OF_EACH_ROW), (2 * CHUNK + 5, DECAY)]
)
def test_it_is_its_equation_in_values_and_gradients(t, gate):
    assert_same_values_and_gradients(decayed_recurrence, by_definition, problem(t, gate))


def test_gradients_are_those_of_small_changes():
    assert torch.autograd.gradcheck(decayed_recurrence, problem(5, DECAY_OF_EACH_ROW))
