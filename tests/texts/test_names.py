import re

import pytest

from recherche.texts.names import NUM_FIRST, NUM_LAST, NUM_PEOPLE, NUM_WORDS, person, words


def test_names_are_different_people():
    firsts = {person(index).split()[0] for index in range(0, NUM_PEOPLE, NUM_LAST)}
    lasts = {person(index).split()[1] for index in range(NUM_LAST)}
    assert (len(firsts), len(lasts)) == (NUM_FIRST, NUM_LAST)
    assert all(re.fullmatch(r"[A-Z][a-z]{2,8}", name) for name in firsts | lasts)


@pytest.mark.parametrize("index", [0, NUM_LAST, NUM_PEOPLE - 1])
def test_every_index_is_a_first_name_and_a_surname(index: int):
    assert len(person(index).split()) == 2


def test_words_are_different_and_in_lower_case():
    assert len(set(words())) == len(words()) == NUM_WORDS
    assert all(re.fullmatch(r"[a-z]{3,10}", word) for word in words())
    assert not {"the", "and"} & set(words())
