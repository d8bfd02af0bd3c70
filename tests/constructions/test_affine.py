"""Affine forms: arithmetic, what is known of their values, and how they are shown."""

from fractions import Fraction

import pytest

from recherche.constructions.affine import Affine, Register, bracketed

X = Register("x", 5, 1, Fraction(0), Fraction(4), integer=True)
Y = Register("y", 6, 3, Fraction(-1), Fraction(1), integer=False)
x, y = Affine.of(X), Affine.of(Y)


def value(form: Affine, at_x: int, at_y: Fraction) -> Fraction:
    return form.constant + sum(c * {X: Fraction(at_x), Y: at_y}[register] for register, c in form.terms)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        pytest.param(x + y, lambda a, b: a + b, id="sum"),
        pytest.param(3 - 2 * x, lambda a, b: 3 - 2 * a, id="scale and shift"),
        pytest.param((x - y) * Fraction(1, 2) + 1, lambda a, b: (a - b) / 2 + 1, id="half difference"),
        pytest.param(x - x, lambda a, b: Fraction(0), id="cancelled"),
    ],
)
def test_arithmetic_agrees_with_numbers_and_values_lie_in_the_interval(form, expected):
    for at_x in range(5):
        for at_y in (Fraction(-1), Fraction(1, 3), Fraction(1)):
            found = value(form, at_x, at_y)
            assert found == expected(Fraction(at_x), at_y)
            assert form.low <= found <= form.high


def test_cancelled_terms_are_gone():
    assert (x + y - x).registers == (Y,)


def test_only_integers_between_0_and_1_are_flags():
    assert x.within(0, 1).flag
    assert (1 - x.within(0, 1)).flag
    assert not x.flag
    assert not y.within(0, 1).flag


def test_forms_are_shown_as_they_are_written():
    assert str(3 - 2 * x + y) == "y + 3 - 2 x"
    assert str(Affine.of(0)) == "0"
    assert str(-x) == "-x"
    assert (bracketed(x), bracketed(x + 1)) == ("x", "(x + 1)")
