from itertools import pairwise

import pytest

from recherche.errors import ConfigError
from recherche.texts.cgram import CGramWords


@pytest.mark.parametrize(("n", "c"), [(2, 2), (9, 2), (60, 3), (60, 5)])
def test_the_answer_follows_the_first_place_of_the_gram(n: int, c: int):
    for key in range(40):
        example = CGramWords(n=n, c=c).example(key)
        words = example.context.split()
        gram = example.question.split("follows ")[1].split("?")[0].split()
        assert (len(words), len(gram)) == (n, c - 1)
        places = [i for i in range(n - c + 1) if words[i : i + c - 1] == gram]
        assert example.answers == (words[places[0] + c - 1],)


def test_words_repeat_and_pairs_hardly_do():
    words = CGramWords(n=1000).example(1).context.split()
    assert len(set(words)) < 100
    assert len(set(pairwise(words))) > 800


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n": 2}, "n from 3 to 100000, got n = 2 words"), ({"c": 1}, "c from 2 to 8, got c = 1")],
)
def test_impossible_grams_are_refused(options: dict, message: str):
    with pytest.raises(ConfigError, match=message):
        CGramWords(**options)
