"""From torch to compiled loops: tensors as arrays that share their memory, and as many threads as torch would use."""

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


def use_torch_threads() -> int:
    """Let the next compiled loop run on as many threads as torch would, and say how many these are."""
    count = min(torch.get_num_threads(), numba.config.NUMBA_NUM_THREADS)
    numba.set_num_threads(count)
    return count
