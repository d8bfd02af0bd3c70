import torch

from recherche._rng import torch_generator
from recherche.mixers.linear_rnn import DenseRNNLayer, DiagonalRNNLayer, at_last_token


def inputs():
    return torch.randn(2, 37, 8, generator=torch_generator(0, "x"), dtype=torch.float64)


def by_definition(mixer, transition, x):
    h, outputs = torch.zeros(2, 6, dtype=torch.float64), []
    for x_t in x.unbind(1):
        h = h @ transition.t() + x_t @ mixer.in_proj.weight.t()
        outputs.append(h @ mixer.out_proj.weight.t())
    return torch.stack(outputs, dim=1)


def test_the_diagonal_form_is_a_matrix_recurrence():
    mixer = DiagonalRNNLayer(d_state=6).build(8).double()
    transition = torch.diag(torch.exp(-mixer.rate_log.exp()))
    torch.testing.assert_close(mixer(inputs())[0], by_definition(mixer, transition, inputs()), rtol=1e-10, atol=1e-12)


def test_the_dense_form_is_a_matrix_recurrence():
    mixer = DenseRNNLayer(d_state=6).build(8).double()
    expected = by_definition(mixer, mixer.transition, inputs())
    torch.testing.assert_close(mixer(inputs())[0], expected, rtol=1e-10, atol=1e-12)


def test_first_transitions_do_not_grow():
    dense, diagonal = DenseRNNLayer(d_state=6).build(8), DiagonalRNNLayer(d_state=6).build(8)
    torch.testing.assert_close(dense.transition @ dense.transition.t(), torch.eye(6))
    decay = torch.exp(-diagonal.rate_log.exp())
    assert ((decay >= 0.9) & (decay <= 0.999)).all()


def test_the_last_state_is_that_of_the_last_real_token():
    every, before = torch.arange(6.0).view(2, 3, 1), torch.tensor([[-1.0], [-2.0]])
    assert at_last_token(every, before, torch.tensor([0, 2])).tolist() == [[-1.0], [4.0]]
    assert at_last_token(every, before, None).tolist() == [[2.0], [5.0]]
