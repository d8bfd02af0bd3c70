import numpy as np
import pytest

from recherche.errors import VocabError
from recherche.retrieval.lexicon import Lexicon
from recherche.vocab import Vocab


def test_an_open_lexicon_learns_tokens_in_the_order_in_which_it_meets_them():
    lexicon = Lexicon()
    assert lexicon.ids_of(["b", "a", "b"]) == [0, 1, 0]
    assert lexicon.ids_of(["c"]) == [2]
    assert lexicon.knows("anything")


def test_a_fixed_lexicon_takes_ids_of_its_table():
    lexicon = Lexicon(Vocab(("a", "b")))
    assert lexicon.ids_of(np.array([1, 0])) == lexicon.ids_of([1, 0]) == [1, 0]
    assert (lexicon.knows("a"), lexicon.knows("c")) == (True, False)
    with pytest.raises(VocabError, match="Token ids run from 0 to 1, got -1; check the model's vocabulary"):
        lexicon.ids_of([0, -1])


REFUSED = {"empty": "", "space": "a b", "newline": "a\n", "surrogate": "\ud800"}


@pytest.mark.parametrize("token", REFUSED.values(), ids=REFUSED)
def test_a_token_that_no_text_can_hold_is_refused(token: str):
    with pytest.raises(VocabError, match="A token m"):
        Lexicon().ids_of([token])


def test_characters_and_white_space_are_noted_as_tokens_arrive():
    lexicon = Lexicon()
    lexicon.ids_of(["ab", "é"])
    assert (lexicon.characters, lexicon.has_whitespace) == (set("abé"), False)
    lexicon.ids_of(["a\u00a0b"])
    assert lexicon.has_whitespace


def test_whether_a_token_is_a_beginning_of_others_follows_what_is_learnt():
    lexicon = Lexicon()
    lexicon.ids_of(["1", "2"])
    assert lexicon.starts_only_itself("1")
    assert lexicon.starts_only_itself("1")
    lexicon.ids_of(["12"])
    assert not lexicon.starts_only_itself("1")
    assert lexicon.starts_only_itself("2")
