"""Which way of reading is right for a model, and the fastest of those that are.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

from typing import Any

from recherche.lm.capabilities import capabilities_of
from recherche.lm.compiled_reading import CompiledReading, compiled_reading
from recherche.lm.reading import CachedReading, Tell, WholeReading

Reading = CachedReading | CompiledReading | WholeReading


def choose_reading(model: Any, length: int, *, already: int = 0, tell: Tell | None = None) -> Reading:
    """How to read a prompt of `length` tokens, and what follows it.

    Args:
        already: tokens at its beginning that a cache has read before; single steps are then right.
        tell: hears how many tokens have been read, and how many there are.
    """
    can = capabilities_of(model)
    if not can.steps and not already:
        return WholeReading()
    compiled = None if already else compiled_reading(model, length, tell=tell)
    return compiled or CachedReading(chunks=can.chunks, already=already, tell=tell)
