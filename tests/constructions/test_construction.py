"""Sizes, cases and answers of constructions."""

from recherche.constructions.catalogue import CONSTRUCTIONS
from recherche.constructions.construction import Case, Sizes
from recherche.vocab import Vocab

VOCAB = Vocab(("<s>", "YES", "NO", "1", "2"))


def test_a_text_is_prompt_and_completion():
    assert Case(("<s>", "1"), ("YES",)).text == ("<s>", "1", "YES")


def test_one_size_alone_leaves_the_small_problems_out():
    assert Sizes(4, ((8, 2), (16, 2))).only(12) == Sizes(0, ((12, 5),))


def test_a_text_ends_with_its_answers_or_with_a_number():
    assert CONSTRUCTIONS["istree-transformer"].stop_ids(VOCAB) == [1, 2]
    assert CONSTRUCTIONS["index-transformer"].stop_ids(VOCAB) == [3, 4]
