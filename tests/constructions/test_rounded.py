"""Constructions in R_p."""

import pytest
import torch

from recherche.constructions.catalogue import CONSTRUCTIONS
from recherche.constructions.construction import Sizes
from recherche.constructions.rounded import (
    bits_per_doubling,
    compile_rounded,
    prove_in_precision,
    smallest_exact_bits,
)

SMALL = Sizes(0, ((3, 3),))


def test_enough_bits_are_exact_and_too_few_are_not():
    construction = CONSTRUCTIONS["ar-transformer"]
    (enough,) = prove_in_precision(construction, SMALL, bits=53)
    (too_few,) = prove_in_precision(construction, SMALL, bits=9)
    assert enough.failures == 0
    assert too_few.failures > 0


def test_the_smallest_exact_p_is_exact_and_the_next_smaller_is_not():
    construction = CONSTRUCTIONS["index-hybrid"]
    bits = smallest_exact_bits(construction, SMALL)
    assert bits is not None
    assert bits % 2 == 1
    (exact,), (inexact,) = (prove_in_precision(construction, SMALL, bits=p) for p in (bits, bits - 2))
    assert (exact.failures, inexact.failures > 0) == (0, True)


def test_weights_are_rounded_as_well():
    (suite,) = CONSTRUCTIONS["index-hybrid"].suites(SMALL)
    model = compile_rounded(suite, 21)
    largest = 2.0**10 - 2.0**-10
    assert (
        max(float(parameter.detach().abs().max()) for parameter in model.parameters() if parameter.numel()) <= largest
    )
    assert torch.isfinite(model(torch.tensor([[0, 1, 2]]))).all()


@pytest.mark.parametrize(("points", "slope"), [({4: 20, 8: 26, 16: 32}, 6.0), ({2: 5, 8: 5}, 0.0)])
def test_bits_per_doubling_are_the_slope_of_the_line(points, slope):
    assert bits_per_doubling(points) == pytest.approx(slope)
