import numpy as np
import pytest

from recherche._rng import numpy_generator
from recherche.training.curriculum import Fixed, Level, Mixed, SelfPaced

PACED = SelfPaced(start_n=6, threshold=0.2)


def sizes(curriculum, level, count=4000):
    generator = numpy_generator(0, "curriculum")
    return np.array([curriculum.next_size(level, generator) for _ in range(count)])


def test_fixed_never_moves():
    level = Fixed().start(16)
    assert level.n == 16
    assert Fixed().advance(level, 0.0, final_n=16) == level
    assert set(sizes(Fixed(), level)) == {16}


def test_mixed_draws_each_of_its_sizes_equally_often_and_never_moves():
    mixed = Mixed(sizes=(4, 8, 16))
    level = mixed.start(16)
    assert mixed.advance(level, 0.0, final_n=16) == level == Level(n=16)
    found, counts = np.unique(sizes(mixed, level), return_counts=True)
    assert found.tolist() == [4, 8, 16]
    assert counts == pytest.approx([4000 / 3] * 3, rel=0.1)


def test_a_low_loss_raises_the_level_once_and_asks_it_to_be_earned_again():
    level = PACED.advance(Level(n=6), 0.1, final_n=16)
    assert level.n == 7
    assert level.smooth_loss == pytest.approx(0.15)


def test_one_lucky_batch_does_not_raise_the_level():
    assert PACED.advance(Level(n=6, smooth_loss=1.0), 0.0, final_n=16).n == 6


def test_the_final_size_is_never_passed():
    level = Level(n=15, smooth_loss=0.1)
    for _ in range(5):
        level = PACED.advance(level, 0.0, final_n=16)
    assert level.n == 16


def test_a_start_above_the_final_size_starts_at_the_final_size():
    assert PACED.start(4).n == 4
    assert set(sizes(PACED, PACED.start(4))) == {4}


def test_a_fifth_of_the_batches_reviews_the_three_sizes_below():
    drawn = sizes(PACED, Level(n=12, smooth_loss=1.0))
    assert set(drawn) == {9, 10, 11, 12}
    assert np.mean(drawn < 12) == pytest.approx(0.2, abs=0.03)


def test_review_does_not_go_below_the_start():
    assert set(sizes(PACED, Level(n=7, smooth_loss=1.0))) == {6, 7}
