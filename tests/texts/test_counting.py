from collections import Counter

import pytest

from recherche.errors import ConfigError
from recherche.texts.counting import CountingWord


@pytest.mark.parametrize(("n", "most"), [(1, 8), (3, 8), (40, 8), (40, 2)])
def test_the_answer_is_how_often_the_word_stands(n: int, most: int):
    counts = set()
    for key in range(120):
        example = CountingWord(n=n, most=most).example(key)
        words = [line.split(": ") for line in example.context.splitlines()]
        assert [int(place) for _, place in words] == list(range(1, n + 1))
        wanted = example.question.split("does ")[1].split(" stand")[0]
        assert example.answers == (str(Counter(word for word, _ in words)[wanted]),)
        counts.add(int(example.answers[0]))
    assert counts == set(range(min(n, most) + 1))


def test_others_occur_as_often_as_the_word_that_is_asked_for():
    example = CountingWord(n=400).example(1)
    counts = Counter(line.split(": ")[0] for line in example.context.splitlines())
    assert sum(count >= 4 for count in counts.values()) > 30


def test_a_count_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="most from 1 to 1000, got most = 0"):
        CountingWord(most=0)
