import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from recherche.kernels.rows import row_at


@numba.njit
def double_row(array, place, width):
    row = row_at(array, place)
    for j in range(width):
        row[j] = 2 * row[j]


@pytest.mark.parametrize(
    ("shape", "place"), [((3,), ()), ((2, 3), (1,)), ((2, 4, 3), (1, 2)), ((2, 4, 2, 3), (0, 3, 1))], ids=str
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_a_row_is_the_memory_of_the_array(shape, place, dtype):
    array = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    expected = array.copy()
    expected[place] *= 2
    double_row(array, place, 3)
    assert np.array_equal(array, expected)


@pytest.mark.parametrize(
    ("array", "place"),
    [(np.zeros((4, 3)).T, (1,)), (np.zeros((2, 4))[:, ::2], (1,)), (np.zeros(3), (0,)), (np.zeros((2, 2, 3)), (1,))],
    ids=["transposed", "strided", "too many indices", "too few indices"],
)
def test_what_has_no_such_row_is_not_compiled(array, place):
    with pytest.raises(TypingError, match="an index for each axis but the last"):
        double_row(array, place, 2)
