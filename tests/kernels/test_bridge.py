import numba
import pytest
import torch

from recherche.kernels.bridge import array, has_compiled_path, use_torch_threads


@pytest.mark.parametrize(
    ("dtype", "expected"), [(torch.float32, True), (torch.float64, True), (torch.bfloat16, False), (torch.int64, False)]
)
def test_single_and_double_precision_have_compiled_loops(dtype, expected):
    assert has_compiled_path(torch.zeros(2, dtype=dtype)) is expected


def test_an_array_shares_memory_when_it_can():
    x = torch.zeros(2, 3, requires_grad=True)
    array(x)[0, 0] = 1.0
    assert x[0, 0] == 1.0
    assert array(x.t()).flags.c_contiguous
    assert array(x.t()).base is not x.detach().numpy()


def test_compiled_loops_use_no_more_threads_than_torch():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert use_torch_threads() == numba.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
