"""R_p against exact rational arithmetic."""

from fractions import Fraction

import pytest
import torch

from recherche.errors import ConfigError
from recherche.precision import FixedPoint


def nearest_by_definition(x: float, bits: int) -> float:
    scale = 2 ** ((bits - 1) // 2)
    largest = Fraction(scale * scale - 1, scale)
    return float(max(-largest, min(largest, Fraction(round(Fraction(x) * scale), scale))))


@pytest.mark.parametrize("bits", [3, 7, 25, 53])
def test_rounding_agrees_with_exact_rationals(bits):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2000, generator=generator, dtype=torch.float64) * 2.0 ** (bits / 4)
    expected = [nearest_by_definition(value, bits) for value in x.tolist()]
    assert FixedPoint(bits)(x).tolist() == expected


@pytest.mark.parametrize("bits", [3, 7, 25])
def test_rounding_a_rounded_number_changes_nothing(bits):
    x = torch.linspace(-300, 300, 4001, dtype=torch.float64)
    assert torch.equal(FixedPoint(bits)(FixedPoint(bits)(x)), FixedPoint(bits)(x))


def test_a_masked_score_stays_masked():
    assert FixedPoint(7)(torch.tensor([float("-inf")])).item() == float("-inf")


@pytest.mark.parametrize(("bits", "hint"), [(8, "try 9"), (1, "try 3"), (0, "try 3")])
def test_a_p_that_cannot_be_split_evenly_is_refused(bits, hint):
    with pytest.raises(ConfigError, match=hint):
        FixedPoint(bits)
