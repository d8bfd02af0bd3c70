"""A row that does not search: its text, and the strings that end it."""

import pytest

from recherche.lm.codec import Codec
from recherche.lm.listener import PlainListener, ends_with_stop
from tests.lm.tokenizers import tiny_tokenizer


@pytest.mark.parametrize("kind", ["byte-level", "sentencepiece", "bytes", "trie"])
def test_the_text_is_what_the_tokens_spell(kind: str) -> None:
    codec = Codec(tiny_tokenizer(kind))
    before = codec.encode_prompt("A:")
    listener = PlainListener(codec.stream(before), ["\n\n"])
    for token in codec.encode_passage(before, " naïve 東京 555\n"):
        assert listener.feed(token) == ()
    listener.finish()
    assert listener.text == listener.answer_text == " naïve 東京 555\n"
    assert not listener.has_ended


def test_nothing_can_be_forced_on_it() -> None:
    codec = Codec(tiny_tokenizer("bytes"))
    with pytest.raises(AssertionError):
        PlainListener(codec.stream()).hear_forced(3)


@pytest.mark.parametrize(
    ("text", "num_new", "stops", "ends"),
    [
        pytest.param("one\n", 1, ["\n"], True, id="the last character"),
        pytest.param("one\ntwo", 3, ["\n"], False, id="before what is new"),
        pytest.param("one\n\n", 1, ["\n\n"], True, id="begun before what is new"),
        pytest.param("one STOP.", 2, ["STOP"], True, id="ended within what is new"),
        pytest.param("STOP", 1, [], False, id="no stop string"),
    ],
)
def test_a_stop_string_counts_where_it_ends(text: str, num_new: int, stops: list[str], ends: bool) -> None:
    assert ends_with_stop(text, num_new, stops) == ends
