import threading

import numba
import pytest
import torch

from recherche.kernels.bridge import array, has_compiled_path, num_threads, on_threads


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


def fill(thread, count, shares):
    shares.append((thread, count, threading.current_thread().name))


@pytest.mark.parametrize("count", [1, 3])
def test_a_kernel_runs_once_for_each_thread(monkeypatch, count):
    monkeypatch.setattr("recherche.kernels.bridge.num_threads", lambda: count)
    shares = []
    on_threads(fill, shares)
    assert sorted(thread for thread, _, _ in shares) == list(range(count))
    assert {total for _, total, _ in shares} == {count}
    assert dict((thread, name) for thread, _, name in shares)[0] == threading.current_thread().name


def test_an_error_in_any_thread_is_raised(monkeypatch):
    monkeypatch.setattr("recherche.kernels.bridge.num_threads", lambda: 2)

    def fail(thread, count):
        if thread == 1:
            raise ValueError("thread 1 failed")

    with pytest.raises(ValueError, match="thread 1 failed"):
        on_threads(fail)


def test_no_more_threads_than_torch_or_numba_have():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert num_threads() == 1
        torch.set_num_threads(64)
        assert num_threads() <= numba.config.NUMBA_NUM_THREADS
    finally:
        torch.set_num_threads(before)
