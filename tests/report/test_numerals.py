import pytest

from recherche.report.numerals import decimal, duration, percent, short_number


@pytest.mark.parametrize("share", [0.9999, 0.99951, 1 - 1e-12])
def test_nothing_below_one_reads_as_one(share: float):
    assert percent(share) == "99.9 %"
    assert decimal(share) == "0.999"


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0, "0"), (999, "999"), (1e3, "1k"), (2_345_678_901, "2.35G")]
)
def test_counts_have_three_digits(value: float | None, text: str):
    assert short_number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "–"), (59.7, "1 min 0 s"), (3599, "59 min 59 s"), (7200, "2 h 0 min")]
)
def test_times_have_two_units(seconds: float | None, text: str):
    assert duration(seconds) == text
