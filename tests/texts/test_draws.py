from collections import Counter

import pytest

from recherche.texts.draws import Draws


def test_purposes_and_keys_share_nothing():
    drawn = [
        [Draws(key, purpose).below(2**62) for _ in range(2)] for key in (0, 1, 2**64 - 1) for purpose in ("a", "b")
    ]
    assert len({number for numbers in drawn for number in numbers}) == 6


@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_distinct_numbers_are_distinct_and_in_range(count: int):
    for key in range(20):
        numbers = Draws(key, "distinct").distinct(count, 4)
        assert len(set(numbers)) == count
        assert set(numbers) <= set(range(4))


def test_more_numbers_begin_with_fewer():
    assert Draws(5, "distinct").distinct(9, 10)[:4] == Draws(5, "distinct").distinct(4, 10)


def test_every_order_is_equally_likely():
    orders = Counter(tuple(Draws(key, "order").shuffled("abc")) for key in range(1200))
    assert len(orders) == 6
    assert all(130 < count < 270 for count in orders.values())


def test_a_number_of_digits_does_not_begin_with_zero():
    assert {len(str(int(Draws(key, "digits").digits(3)))) for key in range(200)} == {3}
