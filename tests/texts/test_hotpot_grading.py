import re
import string
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recherche.texts.hotpot_grading import grade_hotpot, normalised

PIECES = st.sampled_from(
    ["a", "an", "The", "yes", "no", "noanswer", "Alta", "alta", ",", "-", "'s", " ", "\t", "é", "1066"]
)


def oracle(written: str, answer: str) -> tuple[bool, Fraction]:
    """Exact match and F1 letter by letter and word by word, from the published rules."""

    def words(text: str) -> list[str]:
        bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        # An article is a word of its own: no letter, digit or underscore beside it.
        return [word for word in re.sub(r"(?<!\w)(a|an|the)(?!\w)", " ", bare).split() if word]

    ours, theirs = words(written), words(answer)
    if ours != theirs and any(side in (["yes"], ["no"], ["noanswer"]) for side in (ours, theirs)):
        return False, Fraction(0)
    left, shared = list(theirs), 0
    for word in ours:
        if word in left:
            left.remove(word)
            shared += 1
    if not shared:
        return ours == theirs, Fraction(0)
    precision, recall = Fraction(shared, len(ours)), Fraction(shared, len(theirs))
    return ours == theirs, 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("written", "answer", "exact", "f1"),
    [
        pytest.param("Alta", "Alta", True, 1, id="equal"),
        pytest.param("alta", "ALTA", True, 1, id="case"),
        pytest.param("the Alta", "an alta", True, 1, id="articles"),
        pytest.param("Alta!", "«Alta»", False, 0, id="punctuation that is not ASCII stays"),
        pytest.param("U.S.A.", "USA", True, 1, id="punctuation vanishes and joins what it parted"),
        pytest.param("well-known", "well known", False, 0, id="a hyphen is no space"),
        pytest.param(" Ada \t Berg\n", "Ada Berg", True, 1, id="white space"),
        pytest.param("theatre", "atre", False, 0, id="an article is a whole word"),
        pytest.param("Los-an-geles", "Los-geles", False, 0, id="punctuation goes before articles"),
        pytest.param("yes", "yes", True, 1, id="yes"),
        pytest.param("Yes.", "yes", True, 1, id="yes with a full stop"),
        pytest.param("yes it is", "yes", False, 0, id="more than yes is nothing"),
        pytest.param("no", "no man", False, 0, id="no instead of a name is nothing"),
        pytest.param("noanswer", "no answer", False, 0, id="noanswer"),
        pytest.param("Ada Berg", "Berg", False, Fraction(2, 3), id="a word too many"),
        pytest.param("the the Berg", "Berg Berg", False, Fraction(2, 3), id="a word counts as often as both have it"),
        pytest.param("Berg Ada", "Ada Berg", False, 1, id="order does not count for F1"),
        pytest.param("", "Alta", False, 0, id="nothing"),
        pytest.param("the", "a", True, 0, id="nothing but articles on both sides"),
    ],
)
def test_answers_are_graded_by_the_published_rules(written: str, answer: str, exact: bool, f1: Fraction | int):
    assert grade_hotpot(written, answer) == (exact, pytest.approx(float(f1)))
    assert oracle(written, answer) == (exact, f1)


@given(st.lists(PIECES, max_size=6).map("".join), st.lists(PIECES, max_size=6).map("".join))
def test_grades_agree_with_the_oracle(written: str, answer: str):
    exact, f1 = oracle(written, answer)
    assert grade_hotpot(written, answer) == (exact, pytest.approx(float(f1)))


def test_a_normalised_answer_stays_as_it_is():
    assert normalised(normalised("The Dogs, of (War)")) == "dogs of war"
