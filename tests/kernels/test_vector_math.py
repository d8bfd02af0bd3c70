import numpy as np
import pytest

from recherche.kernels.compiled import compiled, compiled_vectors
from recherche.kernels.vector_math import LOG2_E, exp2_nonpositive, exp_minus_abs, like, log1p_unit, sigmoid, softplus


@compiled_vectors
def apply_exp2(x, y):
    for i in range(len(x)):
        y[i] = exp2_nonpositive(x[i])


@compiled_vectors
def apply_log1p(x, y):
    for i in range(len(x)):
        y[i] = log1p_unit(x[i])


@compiled_vectors
def apply_softplus(x, y):
    for i in range(len(x)):
        y[i] = softplus(x[i])


@compiled_vectors
def apply_sigmoid(x, y):
    for i in range(len(x)):
        y[i] = sigmoid(x[i])


@compiled_vectors
def apply_exp_minus_abs(x, y):
    for i in range(len(x)):
        y[i] = exp_minus_abs(x[i])


CASES = {
    "exp2": (apply_exp2, np.exp2, (-60.0, 0.0)),
    "log1p": (apply_log1p, np.log1p, (0.0, 1.0)),
    "softplus": (apply_softplus, lambda x: np.log1p(np.exp(x)), (-20.0, 20.0)),
    "sigmoid": (apply_sigmoid, lambda x: 1 / (1 + np.exp(-x)), (-20.0, 20.0)),
    "exp(-|x|)": (apply_exp_minus_abs, lambda x: np.exp(-np.abs(x)), (-20.0, 20.0)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize(("function", "truth", "interval"), CASES.values(), ids=CASES)
def test_polynomials_are_right_to_rounding(function, truth, interval, dtype):
    x = np.linspace(*interval, 5001).astype(dtype)
    y = np.empty_like(x)
    function(x, y)
    expected = truth(x.astype(np.longdouble))
    # Rounding x log2(e) alone may cost |x| units in the last place.
    units = 2 + np.abs(x) * LOG2_E
    assert (np.abs(y - expected) <= units * np.finfo(dtype).eps * np.abs(expected)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_no_decay_is_exactly_one_and_much_decay_is_tiny(dtype):
    y = np.empty(3, dtype)
    apply_exp2(np.array([0, -1e30, -np.inf], dtype), y)
    assert y[0] == 1
    assert (y[1:] == np.finfo(dtype).tiny).all()


@compiled
def half(x):
    return x * like(0.5, x)


@compiled
def half_in_double(x):
    return x * 0.5


def test_a_constant_like_x_keeps_single_precision():
    half(np.float32(3)), half_in_double(np.float32(3))
    assert str(half.nopython_signatures[0].return_type) == "float32"
    assert str(half_in_double.nopython_signatures[0].return_type) == "float64"
