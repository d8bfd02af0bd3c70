"""Coordinates, stages and the values at <s>."""

from recherche.constructions.layout import LinearRNN, Transformer
from recherche.constructions.program import Program
from recherche.constructions.registers import in_words


def test_coordinates_are_given_out_in_order_and_the_position_is_last():
    p = Program("example", ("<s>", "YES"), 32, Transformer())
    p.is_zero(p.number)
    assert [placed.result.coordinate for placed in p.registers.placed] == [4, 5]
    assert p.position.registers[0].coordinate == -1
    assert p.registers.n_coordinates == 7


def test_every_register_has_its_exact_value_at_the_first_token():
    p = Program("example", ("<s>",), 32, Transformer())
    m = p.count_inverse(keys=p.number, queries=p.number + 1)
    assert p.registers.value_at_begin(m) == 1
    assert p.registers.value_at_begin(p.invert(m) + p.position) == 2
    assert p.registers.value_at_begin(p.is_zero(p.number)) == 1


def test_a_constant_in_a_mixer_waits_for_the_register_that_holds_one():
    p = Program("example", ("<s>",), 32, LinearRNN())
    assert p.lag(p.number, 0).registers[0].stage == 1
    assert p.lag(p.number + 1, 0).registers[0].stage == 3


def test_a_run_of_delays_is_one_line():
    p = Program("example", ("<s>",), 32, LinearRNN())
    p.lag(p.number, 9, name="number")
    linear = [placed for placed in p.registers.placed if placed.stage == 1]
    assert in_words(linear) == ["number[0] = number", "number[-1] ... number[-9] = one token ago each"]
