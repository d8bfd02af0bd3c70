"""Lags, sums and decays of a linear unit, compiled and held to their meaning."""

from fractions import Fraction

from recherche.constructions.layout import LinearRNN
from recherche.constructions.program import Program

NUMBERS = [str(i) for i in range(1, 6)]


def test_lags_sums_and_decays_are_exact(texts, audited):
    p = Program("memory", ("<s>", "~"), 40, LinearRNN())
    p.lag(p.number, 3)
    p.lag(p.special("~"), 2)
    p.running_sum(p.number - 2 * p.special("~"))
    p.decay(p.number, Fraction(1, 4))
    for report in audited(p, texts([*NUMBERS, "~"], length=25, count=4)):
        assert report.num_exact == report.num_registers


def test_lag_zero_is_in_the_state():
    """Erratum 23: h_t = A h_{t-1} + B x_t holds x_t itself; the printed lemmas count from x_{t-1}."""
    p = Program("lag", ("<s>",), 8, LinearRNN())
    now, before = p.lag(p.number, 0), p.lag(p.number, 1)
    column = [Fraction(i) for i in (0, 4, 5)]
    first, second = p.registers.placed[1:]
    assert first.result is now.registers[0]
    assert first.operation.meaning(lambda form: column) == column
    assert second.result is before.registers[0]
    assert second.operation.meaning(lambda form: column) == [0, 0, 4]


def test_erratum_23_the_sum_of_the_last_k_as_constructed_is_a_prefix_sum():
    """Lemma C.21 accumulates with A = 1 and never subtracts; the last k need the lags as well."""
    x, k = [3, 1, 4, 1, 5], 2
    prefix = [sum(x[: i + 1]) for i in range(len(x))]
    last_k = [sum(x[max(0, i + 1 - k) : i + 1]) for i in range(len(x))]
    lagged = [0] * k + prefix[:-k]
    assert prefix != last_k
    assert [a - b for a, b in zip(prefix, lagged, strict=True)] == last_k
