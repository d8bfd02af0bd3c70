import pytest
import torch

from recherche.kernels.delta_recurrence import delta_recurrence
from recherche.kernels.matrix_recurrence import CHUNK
from tests.kernels.recurrences import DECAY, STRENGTH, assert_same_values_and_gradients, problem


def run(q, k, v, strength, decay, state):
    return delta_recurrence(q, k, v, (strength, decay), state)


def by_definition(q, k, v, strength, decay, state):
    outputs = []
    for i in range(q.shape[2]):
        state = decay[:, :, i, :, None] * state
        held = torch.einsum("bhk,bhkm->bhm", k[:, :, i], state)
        state = state + k[:, :, i, :, None] * (strength[:, :, i] * (v[:, :, i] - held))[:, :, None]
        outputs.append(torch.einsum("bhk,bhkm->bhm", q[:, :, i], state))
    return torch.stack(outputs, dim=2), state


@pytest.mark.parametrize("t", [1, CHUNK, 2 * CHUNK + 5])
def test_it_is_its_equation_in_values_and_gradients(t):
    assert_same_values_and_gradients(run, by_definition, problem(t, STRENGTH, DECAY))


def test_gradients_are_those_of_small_changes():
    assert torch.autograd.gradcheck(run, problem(5, STRENGTH, DECAY))
