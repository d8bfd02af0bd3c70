import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recherche.errors import VocabError
from recherche.vocab import BEGIN, CONTROL_TOKENS, END_OF_DATA, END_SEARCH, START_SEARCH, Vocab

LETTERS = Vocab(("<s>", "a", "b", "<d>"))


@given(st.lists(st.integers(0, len(LETTERS) - 1)))
def test_decoding_and_encoding_give_the_same_ids(ids: list[int]):
    assert LETTERS.encode(LETTERS.decode(ids)).tolist() == ids


def test_an_id_is_the_place_in_the_table():
    assert [LETTERS.id_of(token) for token in LETTERS.tokens] == [0, 1, 2, 3]


def test_encoded_tokens_are_64_bit_even_when_there_are_none():
    assert LETTERS.encode([]).dtype == np.int64
    assert LETTERS.encode([]).shape == (0,)


@pytest.mark.parametrize("token", ["", "a b", "a\nb"], ids=["empty", "space", "newline"])
def test_a_token_that_would_not_survive_joining_is_refused(token: str):
    with pytest.raises(VocabError, match="may not be empty or hold a space or newline"):
        Vocab(("<s>", token))


def test_a_token_listed_twice_is_named():
    with pytest.raises(VocabError, match=r"repeat: a; drop the copies"):
        Vocab(("a", "b", "a"))


def test_an_unknown_token_is_answered_with_what_the_table_holds():
    with pytest.raises(VocabError, match=r"vocabulary of 4 tokens does not hold 'c'; it holds <s> a b <d>\."):
        LETTERS.encode(["a", "c"])


@pytest.mark.parametrize("number", [-1, 4])
def test_an_id_outside_the_table_is_refused(number: int):
    with pytest.raises(VocabError, match=rf"run from 0 to 3, got {number}"):
        LETTERS.decode([0, number])


def test_membership_is_about_tokens():
    assert "a" in LETTERS
    assert "c" not in LETTERS


def test_a_table_is_a_value():
    assert Vocab(("a", "b")) == Vocab(("a", "b"))
    assert hash(Vocab(("a", "b"))) == hash(Vocab(("a", "b")))
    assert Vocab(("a", "b")) != Vocab(("b", "a"))


def test_control_tokens_are_the_two_that_drive_a_search():
    assert CONTROL_TOKENS == (START_SEARCH, END_SEARCH)
    assert not {BEGIN, END_OF_DATA} & set(CONTROL_TOKENS)
