"""What must hold for a head or a condition to mean what its proof says, checked while a program is assembled.

Reference: Lindner et al. (2023), Tracr: compiled Transformers, https://arxiv.org/abs/2301.05062
"""

from collections.abc import Iterable
from fractions import Fraction

from recherche.constructions.affine import Affine
from recherche.constructions.primitives.attention import Head
from recherche.constructions.registers import Registers
from recherche.errors import CertificateError

LARGEST_INVERTIBLE = 2**20
"""Counts up to here are recovered from their reciprocals; the proof stands at `Invert`."""

EXACT = 2**53
"""Integers up to here are float64 numbers, and so are all partial sums of a score bounded by it."""


def require_flags(flags: Iterable[Affine], where: str) -> None:
    """Refuse a condition that may be anything but 0 or 1.

    Raises:
        CertificateError: a condition is not an integer in [0, 1].
    """
    for flag in flags:
        if not flag.flag:
            raise CertificateError(
                f"A condition of {where} must be 0 or 1, but {flag} lies in [{flag.low}, {flag.high}]"
                f"{'' if flag.integer else ' and may be fractional'}; "
                "test it first (is_zero, is_nonnegative), or claim its interval with `assume`."
            )


def require_integer(x: Affine, where: str) -> None:
    """Refuse a number that may be fractional.

    Raises:
        CertificateError: it may.
    """
    if not x.integer:
        raise CertificateError(
            f"{where} needs an integer, but {x} may be fractional and then lies between two corners of its hat; "
            "compute the integer first (invert)."
        )


def check_vanishing(registers: Registers, keys: Iterable[Affine], where: Affine | None) -> None:
    """Refuse keys that would compete at <s>.

    Raises:
        CertificateError: a key or the `where` flag is not 0 at <s>.
    """
    for form in (*keys, *([where] if where else [])):
        value = registers.value_at_begin(form)
        if value != 0:
            raise CertificateError(
                f"In program {registers.program} the key {form} is {value} at <s>, where it must be 0 so that <s> "
                "stands for 'no match'; subtract that value times the flag of <s>."
            )


def check_head(registers: Registers, what: str, head: Head) -> None:
    """Refuse scores that float64 could not hold exactly.

    Raises:
        CertificateError: a key or query may be fractional, or the scores too large.
    """
    if head.sharpening != 1:
        # `Invert` reads a reciprocal; its proof bounds the error, for capacities up to here.
        if registers.capacity > LARGEST_INVERTIBLE:
            raise CertificateError(
                f"Program {registers.program} inverts counts among {registers.capacity} positions; "
                f"float64 tells reciprocals apart only up to {LARGEST_INVERTIBLE}; lower the capacity."
            )
        return
    for key, query in head.pairs:
        for form in (key, query):
            if not form.integer:
                fractional = [register.name for register in form.registers if not register.integer] or [str(form)]
                raise CertificateError(
                    f"In program {registers.program} the score of {what} reads {form}, and {', '.join(fractional)} "
                    "may be fractional: two scores could then be closer than 1; compute the integer first (invert)."
                )
    bound = sum((key.magnitude * query.magnitude for key, query in head.pairs), Fraction(0))
    if bound >= EXACT:
        largest = max(head.pairs, key=lambda pair: pair[0].magnitude * pair[1].magnitude)
        raise CertificateError(
            f"In program {registers.program} the score of {what} may reach {float(bound):.3g}, and float64 holds "
            f"integers only below 2^53; the largest term is ({largest[0]}) ({largest[1]}); lower the capacity, now "
            f"{registers.capacity}, or store a smaller number."
        )
