"""The contracts by themselves; `test_program.py` meets them through the assembler."""

from fractions import Fraction

import pytest

from recherche.constructions.affine import Affine, Register
from recherche.constructions.contracts import check_head, check_vanishing, require_flags, require_integer
from recherche.constructions.layout import Transformer
from recherche.constructions.primitives.attention import Head
from recherche.constructions.registers import Registers
from recherche.errors import CertificateError

REGISTERS = Registers("example", ("<s>",), 16, Transformer())
NUMBER = Affine.of(REGISTERS.inputs["number"])
HALF = Affine.of(Register("half", 9, 2, Fraction(0), Fraction(1), integer=False))


def test_integers_flags_and_vanishing_keys_pass():
    require_integer(NUMBER, "x")
    require_flags([NUMBER.within(0, 1)], "x")
    check_vanishing(REGISTERS, [NUMBER], None)
    check_head(REGISTERS, "x", Head(((NUMBER, NUMBER),), NUMBER))


@pytest.mark.parametrize(
    ("breach", "message"),
    [
        pytest.param(lambda: require_integer(HALF, "x"), "needs an integer, but half may be fractional", id="integer"),
        pytest.param(lambda: require_flags([HALF], "x"), "and may be fractional", id="flag"),
        pytest.param(lambda: check_vanishing(REGISTERS, [NUMBER + 1], None), "is 1 at <s>", id="vanishing"),
        pytest.param(
            lambda: check_head(REGISTERS, "x", Head(((NUMBER, NUMBER * 2**50),), NUMBER)), "may reach", id="exactness"
        ),
        pytest.param(
            lambda: check_head(
                Registers("example", ("<s>",), 2**21, Transformer()), "x", Head(((HALF, HALF),), HALF, sharpening=4)
            ),
            "float64 tells reciprocals apart only up to 1048576",
            id="inversion",
        ),
    ],
)
def test_a_breach_says_what_and_why(breach, message):
    with pytest.raises(CertificateError, match=message):
        breach()
