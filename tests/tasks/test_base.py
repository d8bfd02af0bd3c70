import numpy as np

from recherche.tasks.base import draw_keys


def test_the_same_generator_draws_the_same_keys():
    first, second = np.random.default_rng(3), np.random.default_rng(3)
    assert draw_keys(first, 4).tolist() == draw_keys(second, 4).tolist()
    assert draw_keys(first, 4).dtype == np.uint64


def test_keys_are_drawn_one_by_one():
    together, apart = np.random.default_rng(3), np.random.default_rng(3)
    expected = draw_keys(together, 3).tolist()
    assert [int(draw_keys(apart, 1)[0]) for _ in range(3)] == expected
