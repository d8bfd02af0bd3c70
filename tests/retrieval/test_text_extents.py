import pytest

from recherche.retrieval.limits import Limits
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.text_extents import (
    next_word,
    rest_of_line,
    stripped,
    stripped_within,
    whole_line,
    whole_sentence,
)

LIMITS = Limits(result_characters=10)
LONG = b"x" * 5_000


@pytest.mark.parametrize(
    ("data", "begin", "end"),
    [("a: b c \r\nd", 3, 6), ("a:\nb", 2, 2), ("a: é", 3, 5), ("a:", 2, 2), ("a:\u00a0é\u2003\n", 4, 6)],
)
def test_the_rest_of_a_line_has_no_white_space_at_its_ends(data: str, begin: int, end: int):
    assert rest_of_line(bytearray(data.encode()), 2, LIMITS) == (begin, end)


@pytest.mark.parametrize(
    ("data", "begin", "end"),
    [(b"a\nkey b\r\nc", 2, 7), (b" key", 0, 4), (b"key\r", 0, 4), (b"key\r\n", 0, 3), (b"a\n\tkey", 2, 6)],
)
def test_a_line_ends_before_its_break(data: bytes, begin: int, end: int):
    at = data.index(b"key")
    assert whole_line(bytearray(data), at, at + 3, limits=LIMITS) == (begin, end)


def test_the_next_word_may_stand_far_away():
    far = b"a" + b" " * 5_000 + "wörd".encode() + b" b"
    assert next_word(bytearray(far), 1, LIMITS) == (5_001, 5_006)
    assert next_word(bytearray(b"a  \n "), 1, LIMITS) is None
    assert next_word(bytearray(b"a" + b" " * 1_060 + b"b" * 20), 1, LIMITS) == (1_061, 1_081)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("One. Two key! Three", "Two key!"),
        ("v1.5 key 2.0 is", "v1.5 key 2.0 is"),
        ("a\n\n key b\nc\n \nd", "key b\nc"),
        ("So key.", "So key."),
        ("Is it (key)? Yes", "Is it (key)?"),
    ],
)
def test_a_sentence_ends_at_a_stop_or_a_blank_line(data: str, sentence: str):
    at = data.index("key")
    begin, end = whole_sentence(bytearray(data.encode()), at, at + 3, limits=Limits())
    assert data[begin:end] == sentence


def test_a_key_may_hold_the_end_of_its_sentence():
    assert whole_sentence(bytearray(b"a key. b"), 2, 6, limits=LIMITS) == (0, 6)
    assert whole_sentence(bytearray("a é. b é c".encode()), 2, 10, limits=LIMITS) == (0, 12)


@pytest.mark.parametrize(
    "look",
    [
        lambda data: rest_of_line(data, 1, LIMITS),
        lambda data: whole_line(data, 4_999, 5_000, limits=LIMITS),
        lambda data: whole_line(data, 0, 1, limits=LIMITS),
        lambda data: next_word(data, 1, LIMITS),
        lambda data: whole_sentence(data, 0, 1, limits=LIMITS),
        lambda data: whole_sentence(data, 4_999, 5_000, limits=LIMITS),
        lambda data: stripped_within(data, 0, 5_000, limits=LIMITS),
    ],
)
def test_no_more_is_looked_at_than_a_result_may_hold(look):
    with pytest.raises(RefusedError, match=r"10 characters \(Limits.result_characters\)") as refusal:
        look(bytearray(LONG))
    assert refusal.value.status is Status.RESULT_TOO_LONG


def test_white_space_is_what_python_says():
    data = "\u2003 a b\x1c\n".encode()
    assert stripped(bytearray(data), 0, len(data)) == (4, 7)
    assert stripped(bytearray(b" \n "), 0, 3) == (0, 0)
