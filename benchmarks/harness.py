"""What every benchmark shares: one line per measurement, and a fair way to time two ways of doing the same work.

A benchmark is a module `benchmarks/NAME.py` with a function `lines() -> Iterator[Line]`; `recherche bench NAME --json`
prints one JSON object per line. Only ratios mean something on a busy machine, so both sides are measured in the same
process, turn by turn.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One measurement beside its reference.

    Attributes:
        ours: our value, in `unit`.
        reference: the same quantity for `reference_name`, in `unit`.
        ratio: above 1 means that ours is better, whatever the unit.
        n: the problem size, where the benchmark looks at how cost grows.
        growth: cost at this n over cost at the size before it (1 is free, the ratio of the sizes is linear).
    """

    name: str
    ours: float
    reference: float
    reference_name: str
    ratio: float
    unit: str
    n: int | None = None
    growth: float | None = None

    @classmethod
    def from_rates(
        cls, name: str, rates: tuple[float, float], *, reference_name: str, unit: str, n: int | None = None
    ) -> "Line":
        """The line for a pair (ours, reference) of rates, such as `compare` returns: more is better."""
        ours, reference = rates
        return cls(name, ours, reference, reference_name, ours / reference, unit, n)

    def as_json(self) -> dict[str, Any]:
        """The fields that have a value."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def rate(work: Callable[[], float]) -> float:
    """Work per second of one call; `work` returns how much it has done (tokens, steps, queries)."""
    start = time.perf_counter()
    done = work()
    return done / (time.perf_counter() - start)


def compare(
    ours: Callable[[], float], reference: Callable[[], float], *, repeats: int = 5, warm_up: int = 1
) -> tuple[float, float]:
    """The best work per second of each side over `repeats` alternating turns.

    Each callable does some work and returns how much (tokens, steps, queries). A disturbance makes a turn slower, never
    faster, so the best turn is the one that says most about the code. Garbage collection waits until the end.

    >>> fast, slow = compare(lambda: 1.0, lambda: float(sum(range(20000)) * 0 + 1.0))
    >>> fast > slow
    True
    """
    for _ in range(warm_up):
        ours()
        reference()
    gc.collect()
    gc.disable()
    try:
        turns = [(rate(ours), rate(reference)) for _ in range(repeats)]
    finally:
        gc.enable()
    return max(turn[0] for turn in turns), max(turn[1] for turn in turns)
