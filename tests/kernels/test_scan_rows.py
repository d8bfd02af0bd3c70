"""The inner loops of the scan against the same lines in torch, and their gradients against torch's."""

import inspect

import numba
import numpy as np
import pytest
import torch
from torch.nn.functional import softplus

from recherche.kernels import scan_rows
from recherche.kernels.rows import row_at

WIDTH = 37
B, C = 0.7, -1.3


@numba.njit
def begin(u, r, D, bias, made):
    rows = row_at(made, (0,)), row_at(made, (1,)), row_at(made, (2,))
    scan_rows.begin(WIDTH, (row_at(u, ()), row_at(r, ())), (row_at(D, ()), row_at(bias, ())), rows)


@numba.njit
def advance(A, h, made):
    rows = row_at(made, (0,)), row_at(made, (1,)), row_at(made, (2,))
    scan_rows.advance(WIDTH, (B, C), row_at(A, ()), row_at(h, ()), rows)


@numba.njit
def recompute(A, states, made):
    rows = row_at(made, (0,)), row_at(made, (1,)), row_at(made, (2,))
    history = row_at(states, (0,)), row_at(states, (1,)), row_at(states, (2,))
    scan_rows.recompute(WIDTH, (B, C), row_at(A, ()), history, rows)


@numba.njit
def gate(z, out, y):
    scan_rows.gate(WIDTH, row_at(z, ()), row_at(out, ()), row_at(y, ()))


@numba.njit
def gate_gradients(z, out, grad_y, grads):
    scan_rows.gate_gradients(
        WIDTH, (row_at(z, ()), row_at(out, ()), row_at(grad_y, ())), (row_at(grads, (0,)), row_at(grads, (1,)))
    )


@numba.njit
def state_gradients(A, states, token, sums):
    return scan_rows.state_gradients(
        WIDTH,
        (B, C),
        row_at(A, ()),
        (row_at(states, (0,)), row_at(states, (1,)), row_at(states, (2,))),
        (row_at(token, (0,)), row_at(token, (1,)), row_at(token, (2,))),
        (row_at(sums, (0,)), row_at(sums, (1,)), row_at(sums, (2,)), row_at(sums, (3,))),
    )


@numba.njit
def end_gradients(token, vectors, grads, sums):
    scan_rows.end_gradients(
        WIDTH,
        (
            row_at(token, (0,)),
            row_at(token, (1,)),
            row_at(token, (2,)),
            row_at(token, (3,)),
            row_at(token, (4,)),
            row_at(token, (5,)),
        ),
        (row_at(vectors, (0,)), row_at(vectors, (1,))),
        (row_at(grads, (0,)), row_at(grads, (1,))),
        (row_at(sums, (0,)), row_at(sums, (1,))),
    )


@numba.njit
def copy(source, target):
    scan_rows.copy(WIDTH, row_at(source, ()), row_at(target, ()))


@pytest.fixture
def normal():
    rng = np.random.default_rng(0)
    return lambda *shape: rng.standard_normal((*shape, WIDTH))


def tensor(array):
    return torch.from_numpy(array.copy()).requires_grad_()


def assert_close(array, expected):
    np.testing.assert_allclose(array, np.asarray(expected), rtol=1e-13, atol=1e-13)


def test_every_loop_is_tested_here():
    loops = {name for name, value in vars(scan_rows).items() if inspect.getmodule(value) is scan_rows}
    assert {name for name in loops if f"test_{name}" not in globals()} == set()


def test_copy(normal):
    source, target = normal(), normal()
    copy(source, target)
    assert np.array_equal(source, target)


def test_begin(normal):
    u, r, D, bias, made = normal(), normal(), normal(), normal(), normal(3)
    begin(u, r, D, bias, made)
    dt = softplus(torch.from_numpy(r + bias)).numpy()
    assert_close(made, [dt, dt * u, D * u])


def test_advance(normal):
    A, h, made = -np.abs(normal()), normal(), np.abs(normal(3))
    after = np.exp2(made[0] * A) * h + made[1] * B
    expected = made[2] + C * after
    advance(A, h, made)
    assert_close(h, after)
    assert_close(made[2], expected)


def test_recompute(normal):
    A, states, made = -np.abs(normal()), normal(3), np.abs(normal(3))
    h, made_by_advance, before = states[0].copy(), made.copy(), states[0].copy()
    advance(A, h, made_by_advance)
    recompute(A, states, made)
    assert_close(states, [before, np.exp2(made[0] * A), h])
    assert_close(made, made_by_advance)


def test_gate(normal):
    z, out, y = normal(), normal(), normal()
    gate(z, out, y)
    assert_close(y, out * z / (1 + np.exp(-z)))


def test_gate_gradients(normal):
    z, out, grad_y, grads = normal(), normal(), normal(), normal(2)
    gate_gradients(z, out, grad_y, grads)
    x, o = tensor(z), tensor(out)
    (o * x * x.sigmoid()).backward(torch.from_numpy(grad_y))
    assert_close(grads, [x.grad, o.grad])


def test_state_gradients(normal):
    A, before, dt, dtu, g = -np.abs(normal()), normal(), np.abs(normal()), normal(), normal()
    states, sums = np.stack([before, before, before]), normal(4)
    recompute(A, states, np.stack([dt, dtu, g]))
    inputs = [tensor(x) for x in (before, A, dt, dtu)]
    maps = torch.tensor(B, dtype=torch.float64, requires_grad=True), torch.tensor(C, dtype=torch.float64)
    maps[1].requires_grad_()
    after = torch.exp2(inputs[2] * inputs[1]) * inputs[0] + inputs[3] * maps[0]
    ((after * maps[1] * torch.from_numpy(g)).sum() + (after * torch.from_numpy(sums[0])).sum()).backward()
    # What is left to the end: the scale of A, and that dt stands in an exponent of 2.
    scales = 1.0, np.log(2), np.log(2), 1.0
    expected = [0.0, sums[1], sums[2], sums[3]]
    expected = [start + x.grad.numpy() / scale for start, x, scale in zip(expected, inputs, scales, strict=True)]
    grad_B, grad_C = state_gradients(A, states, np.stack([dt, dtu, g]), sums)
    assert_close(sums, expected)
    assert_close([grad_B, grad_C], [maps[0].grad, maps[1].grad])


def test_end_gradients(normal):
    u, r, g, grad_dt, grad_dtu = normal(5)
    vectors, sums, grads = normal(2), normal(2), normal(2)
    inputs = [tensor(x) for x in (u, r, *vectors)]
    dt = softplus(inputs[1] + inputs[3])
    terms = (inputs[2] * inputs[0], g), (dt * inputs[0], grad_dtu), (dt, np.log(2) * grad_dt)
    sum((value * torch.from_numpy(grad)).sum() for value, grad in terms).backward()
    expected = [inputs[0].grad, inputs[1].grad, sums[0] + inputs[2].grad.numpy(), sums[1] + inputs[3].grad.numpy()]
    end_gradients(np.stack([u, r, dt.detach().numpy(), g, grad_dt, grad_dtu]), vectors, grads, sums)
    assert_close([*grads, *sums], expected)
