"""Independent random generators from (seed, label): the only place where a seed becomes randomness.

Two labels give streams that share nothing, so adding a consumer never shifts the numbers of another one.
"""

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def seed_for(seed: int, label: str) -> int:
    """A 63-bit seed that depends on every bit of `seed` and `label`."""
    digest = hashlib.sha256(f"{seed}/{label}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def numpy_generator(seed: int, label: str) -> np.random.Generator:
    """A NumPy generator for the stream `label` of `seed`.

    >>> a, b = numpy_generator(1, "data"), numpy_generator(1, "data")
    >>> int(a.integers(1000)) == int(b.integers(1000))
    True
    """
    return np.random.Generator(np.random.PCG64(seed_for(seed, label)))


def torch_generator(seed: int, label: str) -> "torch.Generator":
    """A torch generator on the CPU for the stream `label` of `seed`."""
    import torch

    return torch.Generator().manual_seed(seed_for(seed, label))
