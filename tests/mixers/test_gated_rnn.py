import torch

from recherche._rng import torch_generator
from recherche.mixers.gated_rnn import GRULayer, LSTMLayer


def inputs():
    return torch.randn(2, 9, 8, generator=torch_generator(0, "x"), dtype=torch.float64)


def gates(network, x_t, h):
    mixed = x_t @ network.weight_ih_l0.t() + network.bias_ih_l0
    return mixed, h @ network.weight_hh_l0.t() + network.bias_hh_l0


def test_the_lstm_is_its_equations():
    mixer = LSTMLayer(d_state=5).build(8).double()
    h = c = torch.zeros(2, 5, dtype=torch.float64)
    for x_t in inputs().unbind(1):
        i, f, g, o = sum(gates(mixer.network, x_t, h)).chunk(4, dim=-1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    y, state = mixer(inputs())
    torch.testing.assert_close(y[:, -1], mixer.out_proj(h), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(state.c, c, rtol=1e-10, atol=1e-12)


def test_the_gru_is_its_equations():
    mixer = GRULayer(d_state=5).build(8).double()
    h = torch.zeros(2, 5, dtype=torch.float64)
    for x_t in inputs().unbind(1):
        own, past = (part.chunk(3, dim=-1) for part in gates(mixer.network, x_t, h))
        r, z = (own[0] + past[0]).sigmoid(), (own[1] + past[1]).sigmoid()
        h = (1 - z) * (own[2] + r * past[2]).tanh() + z * h
    y, state = mixer(inputs())
    torch.testing.assert_close(y[:, -1], mixer.out_proj(h), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(state.h, h, rtol=1e-10, atol=1e-12)
