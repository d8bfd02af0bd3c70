from itertools import combinations, permutations
from math import log2

import pytest

from recherche.errors import ConfigError
from recherche.texts import mqar
from recherche.texts.mqar import MQARWords


def test_no_key_repeats_up_to_the_last_word():
    pairs = [line.split(" -> ") for line in MQARWords(n=12_000).example(1).context.splitlines()]
    assert len({left for left, _ in pairs}) == 12_000


def test_the_answers_belong_to_the_words_that_are_asked_for():
    for key in range(30):
        example = MQARWords(n=9, queries=3).example(key)
        pairs = dict(line.split(" -> ") for line in example.context.splitlines())
        asked = example.question.split("belong to ")[1].split("?")[0].replace(" and ", ", ").split(", ")
        assert example.answers == tuple(pairs[word] for word in asked)


def test_a_larger_text_begins_with_the_smaller_one():
    assert MQARWords(n=50).example(4).context.startswith(MQARWords(n=20).example(4).context)


@pytest.mark.parametrize(("n", "queries"), [(2, 1), (3, 1), (3, 2), (3, 3), (2, 2)])
def test_the_bound_counts_texts_that_some_question_tells_apart(monkeypatch, n: int, queries: int):
    monkeypatch.setattr(mqar, "NUM_WORDS", 4)
    replies = {
        tuple(frozenset(text[i] for i in asked) for asked in combinations(range(n), queries))
        for text in permutations(range(4), n)
    }
    assert MQARWords(n=n, queries=queries).lower_bound_bits == pytest.approx(log2(len(replies)))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n": 3}, "n from 4 to 12000, got n = 3 pairs"), ({"queries": 0}, "queries from 1 to 1000, got queries = 0")],
)
def test_impossible_sizes_are_refused(options: dict, message: str):
    with pytest.raises(ConfigError, match=message):
        MQARWords(**options)
