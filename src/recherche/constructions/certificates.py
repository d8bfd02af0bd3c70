"""Certificates: that a construction's size does not grow with the context, and how many bits it needs.

size         nonzero weights of the program for contexts of up to N tokens, and the largest weight, for growing N
precision    the smallest p for which R_p gets every sampled problem of size n right, for growing n, and the bits
             that a doubling of n costs: "p = O(log n)" as a measured line

Reference: Wen, Dang & Lyu (2024), Section 3 (constant size, p = O(log n)), https://arxiv.org/abs/2402.18510
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import final

from recherche._files import replacing
from recherche.constructions.compiler import compile_program, largest_weight, nonzero_weights
from recherche.constructions.construction import Construction, Sizes
from recherche.constructions.rounded import bits_per_doubling, smallest_exact_bits
from recherche.errors import CertificateError

CAPACITIES = (64, 1024, 16384)
NUM_PROBLEMS = 24
"""Problems of each size that a precision must get right; a few could all be right by luck."""
MARKERS = "osv^D"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was measured of one construction.

    Attributes:
        nonzeros: nonzero weights by capacity.
        max_abs_weight: largest weight by capacity.
        smallest_bits: smallest exact p by size of the problems.
        bits_per_doubling: slope of p against log2 n; None with fewer than two sizes.
    """

    program: str
    nonzeros: dict[int, int]
    max_abs_weight: dict[int, float]
    smallest_bits: dict[int, int]
    bits_per_doubling: float | None

    def as_json(self) -> dict[str, object]:
        """One line of `prove --certificates --json`."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        sizes = ", ".join(f"{count} at N = {capacity}" for capacity, count in self.nonzeros.items())
        weights = ", ".join(f"2^{math.log2(weight):.0f}" for weight in self.max_abs_weight.values())
        bits = ", ".join(f"{bits} at n = {n}" for n, bits in self.smallest_bits.items())
        slope = "" if self.bits_per_doubling is None else f"; {self.bits_per_doubling:.1f} bits per doubling"
        lines = (
            self.program,
            f"nonzero weights: {sizes}",
            f"largest weight: {weights}",
            f"smallest exact p: {bits}{slope}",
        )
        return "\n  ".join(lines)


def certify(construction: Construction, *, sizes: tuple[int, ...] | None = None) -> Certificate:
    """Measure size and precision.

    Args:
        sizes: where the smallest exact p is measured; None: at the construction's own `precision_sizes`.

    Raises:
        CertificateError: the number of nonzero weights depends on the capacity.
    """
    nonzeros, weights = {}, {}
    for capacity in CAPACITIES:
        model = compile_program(construction.program(capacity))
        nonzeros[capacity], weights[capacity] = nonzero_weights(model), largest_weight(model)
    if len(set(nonzeros.values())) > 1:
        raise CertificateError(
            f"{construction.name} is claimed to have constant size, but has {nonzeros} nonzero weights; "
            "some weight vanishes or appears with the capacity."
        )
    smallest = smallest_bits(construction, construction.precision_sizes if sizes is None else sizes)
    slope = bits_per_doubling(smallest) if len(smallest) > 1 else None
    return Certificate(
        program=construction.name,
        nonzeros=nonzeros,
        max_abs_weight=weights,
        smallest_bits=smallest,
        bits_per_doubling=slope,
    )


def smallest_bits(construction: Construction, sizes: tuple[int, ...]) -> dict[int, int]:
    """The smallest exact p for each size that has problems, as far as it is at most 53."""
    found = {}
    for n in sizes:
        only = Sizes(0, ((n, NUM_PROBLEMS),))
        if next(construction.suites(only), None) is None:
            continue
        bits = smallest_exact_bits(construction, only)
        if bits is None:
            break
        found[n] = bits
    return found


def draw_precision(certificates: list[Certificate], path: Path) -> None:
    """A figure of the smallest exact p against n, with the fitted lines."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for i, certificate in enumerate(certificates):
        if certificate.bits_per_doubling is None:
            continue
        label = f"{certificate.program}, {certificate.bits_per_doubling:.1f} bits per doubling"
        sizes, bits = list(certificate.smallest_bits), list(certificate.smallest_bits.values())
        axes.plot(sizes, bits, f"{MARKERS[i % len(MARKERS)]}-", label=label, markersize=4, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("n")
    axes.set_ylabel("smallest exact p (bits)")
    if axes.lines:
        axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    with matplotlib.rc_context({"svg.hashsalt": "recherche", "svg.fonttype": "none"}), replacing(path) as draft:
        figure.savefig(draft, format="svg", metadata={"Date": None})
