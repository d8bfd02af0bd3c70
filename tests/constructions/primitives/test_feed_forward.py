"""What a ReGLU layer computes, against the functions it is said to be; and the printed forms that fail."""

from fractions import Fraction
from itertools import product

import pytest

from recherche.constructions.affine import Affine, Register
from recherche.constructions.primitives.feed_forward import Choice, Constant, IsNonNegative, IsZero, Product, Unit

X = Register("x", 5, 0, Fraction(-9), Fraction(9), integer=True)
Y = Register("y", 6, 0, Fraction(-9), Fraction(9), integer=True)
P = Register("p", 7, 0, Fraction(0), Fraction(9), integer=True)
x, y, p = (Affine.of(register) for register in (X, Y, P))
RANGE = [Fraction(i) for i in range(-4, 5)]


def relu(value: Fraction) -> Fraction:
    return max(Fraction(0), value)


def run(operation, **values: Fraction) -> Fraction:
    """The result by units: the constant plus the sum of weight * ReLU(gate) * value."""

    def at(form: Affine) -> Fraction:
        return form.constant + sum((c * values[register.name] for register, c in form.terms), Fraction(0))

    def term(unit: Unit) -> Fraction:
        return unit.weight * relu(at(unit.gate)) * at(unit.value)

    return operation.bias + sum((term(unit) for unit in operation.units()), Fraction(0))


def meaning(operation, **values: Fraction) -> Fraction:
    return operation.meaning(
        lambda form: [form.constant + sum((c * values[register.name] for register, c in form.terms), Fraction(0))]
    )[0]


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(Product(x, y), id="product"),
        pytest.param(Product(p, y), id="product with a factor that is not negative"),
        pytest.param(IsZero(x - y), id="is zero"),
        pytest.param(IsNonNegative(x + y), id="is not negative"),
        pytest.param(Constant(Fraction(7)), id="constant"),
    ],
)
def test_units_give_what_the_operation_means(operation):
    for a, b in product(RANGE, repeat=2):
        values = {"x": a, "y": b, "p": abs(a)}
        assert run(operation, **values) == meaning(operation, **values)


def test_a_choice_takes_the_row_whose_flags_are_all_one():
    rows = (((p, 1 - p.within(0, 1)), x), ((p,), y), ((), x))
    operation = Choice(rows)
    for a, b in product(RANGE, repeat=2):
        for flag in (Fraction(0), Fraction(1)):
            assert run(operation, x=a, y=b, p=flag) == meaning(operation, x=a, y=b, p=flag) == a + flag * b


def test_erratum_6_the_printed_product_is_not_a_product():
    """Lemma C.1: W_3 = [1, 1] gives |x| y; [1, -1] gives x y."""

    def with_output(w3: tuple[int, int], a: int, b: int) -> int:
        return w3[0] * max(a, 0) * b + w3[1] * max(-a, 0) * b

    assert with_output((1, 1), -2, 3) == 6
    assert with_output((1, -1), -2, 3) == -6


def test_erratum_7_the_printed_hat_does_not_vanish():
    """Lemma C.3: W_3 = 10 [1, -1, -1, 1] gives 0, 9, 20 at B - 1, B, B + 1; 10 [1, -1, 1, -1] gives 0, 1, 0."""
    corners = (Fraction(1, 2), Fraction(-1, 2), Fraction(-3, 5), Fraction(2, 5))

    def hat(x: int, w3: tuple[int, ...]) -> Fraction:
        return 10 * sum((w * relu(x + c) for w, c in zip(w3, corners, strict=True)), Fraction(0))

    assert [hat(v, (1, -1, -1, 1)) for v in (-1, 0, 1)] == [0, 9, 20]
    assert [hat(v, (1, -1, 1, -1)) for v in (-1, 0, 1)] == [0, 1, 0]
    assert [run(IsZero(x), x=Fraction(v), y=Fraction(0)) for v in (-1, 0, 1)] == [0, 1, 0]


def test_erratum_8_keys_in_base_b_collide():
    """Lemma C.4: tuples over 0..B are not told apart by their value in base B; a conjunction of flags does."""
    B, k = 4, 2
    tuples = list(product(range(B + 1), repeat=k))
    printed = {sum(value * B**i for i, value in enumerate(key)) for key in tuples}
    assert len(tuples) - len(printed) == 4
    for table in tuples:
        found = [all(a == b for a, b in zip(key, table, strict=True)) for key in tuples]
        units = [relu(Fraction(sum(a == b for a, b in zip(key, table, strict=True)) - (k - 1))) for key in tuples]
        assert units == found, "ReLU(sum of flags - (k - 1)) is 1 for its own tuple alone"


def test_erratum_9_the_printed_threshold_uses_a_half_for_epsilon():
    """Lemma C.5: the step needs corners at u - e and u - e/2 and the slope 2/e; corners at u + e, u - 1/2 miss it."""
    u, e = Fraction(3), Fraction(1, 4)

    def step(v: Fraction, corners: tuple[Fraction, Fraction], slope: Fraction) -> Fraction:
        return slope * (relu(v - corners[0]) - relu(v - corners[1]))

    corrected = [step(v, (u - e, u - e / 2), 2 / e) for v in (u - e, u, u + 1)]
    printed = [step(v, (u + e, u - Fraction(1, 2)), 2 / e) for v in (u - e, u, u + 1)]
    assert corrected == [0, 1, 1]
    assert printed != [0, 1, 1]


def test_erratum_10_the_interval_has_no_value_between_its_ramps():
    """Lemma C.6: T_u - T_(v+e) is 1 on [u, v] and 0 outside, but neither on the ramps between."""
    u, v, e = Fraction(2), Fraction(4), Fraction(1, 2)

    def threshold(at: Fraction, corner: Fraction) -> Fraction:
        return 2 / e * (relu(at - corner + e) - relu(at - corner + e / 2))

    def inside(at: Fraction) -> Fraction:
        return threshold(at, u) - threshold(at, v + e)

    corrected_domain = [u - 2 * e, u - e, u, u + e / 3, v, v + e, v + 2 * e]
    assert [inside(at) for at in corrected_domain] == [u <= at <= v for at in corrected_domain]
    assert 0 < inside(u - 3 * e / 4) < 1
    assert 0 < inside(v + e / 4) < 1
