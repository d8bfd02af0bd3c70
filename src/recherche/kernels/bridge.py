"""From torch to compiled loops: tensors as arrays that share their memory, and as many threads as torch would use."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor


def has_compiled_path(x: Tensor) -> bool:
    """Whether the compiled loops can work on `x`: on a CPU, in single or double precision."""
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def array(tensor: Tensor) -> np.ndarray:
    """The tensor as a contiguous array; its own memory if it was contiguous already."""
    return tensor.detach().contiguous().numpy()


def num_threads() -> int:
    """As many threads as torch would use, and no more than numba may."""
    return min(torch.get_num_threads(), numba.config.NUMBA_NUM_THREADS)


def on_threads(kernel: Callable[..., None], *arguments: Any) -> None:
    """Run `kernel(thread, count, *arguments)` for each of `num_threads()` threads; it must not hold the lock."""
    count = num_threads()
    if count == 1:
        kernel(0, 1, *arguments)
        return
    jobs = [_pool(os.getpid()).submit(kernel, thread, count, *arguments) for thread in range(1, count)]
    kernel(0, count, *arguments)
    for job in jobs:
        job.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads of this process; a forked child must not use those of its parent."""
    return ThreadPoolExecutor(thread_name_prefix=f"kernel-{process}")
