"""The rows of the last layer: how they are shown and which coordinates they write."""

from fractions import Fraction

from recherche.constructions.affine import Affine, Register
from recherche.constructions.emission import Emission
from recherche.constructions.model import NUMBER, SQUARE

FLAG = Affine.of(Register("flag", 7, 2, Fraction(0), Fraction(1), integer=True))
V = Affine.of(Register("v", 8, 2, Fraction(0), Fraction(9), integer=True))
SPECIALS = ("<s>", "YES")


def test_a_number_writes_twice_its_value_and_minus_one():
    units = Emission((FLAG,), None, V).units(SPECIALS)
    assert [(unit.weight, coordinate) for unit, coordinate in units] == [(2, NUMBER), (-1, SQUARE)]


def test_a_token_writes_to_its_own_coordinate():
    ((unit, coordinate),) = Emission((FLAG,), "YES", Affine.of(1)).units(SPECIALS)
    assert (unit.gate.key, coordinate) == (FLAG.key, 3)


def test_a_factor_takes_the_place_of_the_flags():
    assert Emission((), "YES", -V, times=FLAG + 1).gate.key == (FLAG + 1).key


def test_rows_are_shown_in_words():
    assert str(Emission((FLAG, 1 - FLAG), None, V)) == "number (v) if flag and 1 - flag"
    assert str(Emission((), "YES", Affine.of(1))) == "YES"
    assert str(Emission((), "YES", -V, times=FLAG)) == "YES with logit (flag) (-v)"
