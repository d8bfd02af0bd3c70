import pytest

from recherche.errors import ConfigError
from recherche.queries import AR
from recherche.tasks.induction import Induction


def test_the_marker_stands_once_anywhere_but_last():
    task = Induction(n=5, n_numbers=3)
    places = set()
    for key in range(100):
        text = task.example(key).problem["text"]
        assert text.count(0) == 1
        places.add(text.index(0))
    assert places == {0, 1, 2, 3}


def test_the_bound_does_not_depend_on_n():
    assert Induction(n=8).lower_bound_bits == Induction(n=8000).lower_bound_bits == 4


def test_the_marker_is_asked_for():
    assert Induction().read_query(("~",)) == AR("~")


@pytest.mark.parametrize(
    ("options", "message"), [({"n": 1}, "a token after it, got n = 1"), ({"n_numbers": 1}, "different tokens, got 1")]
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Induction(**options)
