"""Text to tokens and back, for every kind of tokenizer, on text of any kind."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from recherche.errors import CodecError
from recherche.lm.codec import Codec
from tests.lm.texts import CONTROLS, FRAGMENTS, TEXTS
from tests.lm.tokenizers import KINDS, LOSSY, tiny_tokenizer

LOSSLESS = tuple(kind for kind in KINDS if kind not in LOSSY)
MARKERS = ["<search>", "</search>", "<found>", "</found>", "<nothing>"]


def with_markers(kind: str) -> PreTrainedTokenizerBase:
    tokenizer = tiny_tokenizer(kind)
    tokenizer.add_special_tokens({"extra_special_tokens": MARKERS}, replace_extra_special_tokens=False)
    return tokenizer


CODECS = {kind: Codec(with_markers(kind)) for kind in KINDS}
ANY_IDS = st.lists(st.integers(0, 10_000), max_size=12)
FEW = settings(max_examples=60)


def ids_of(codec: Codec, numbers: list[int]) -> list[int]:
    """Any tokens: control tokens, bytes of cut characters, and one id that has no token."""
    known = [*sorted(codec.control_ids)[:6], *sorted(codec._table.ordinary), 99_999]
    return [known[number % len(known)] for number in numbers]


def front(codec: Codec) -> str:
    """What the tokenizer puts before a text."""
    return codec.tokenizer.decode(codec.prefix) if codec.prefix else ""


@pytest.mark.parametrize("kind", LOSSLESS)
@given(text=TEXTS)
@FEW
def test_a_prompt_comes_back_as_it_was_and_without_control_tokens(kind, text):
    codec = CODECS[kind]
    ids = codec.encode_prompt(text)
    assert codec.decode(ids) == front(codec) + text
    assert codec.prompt_text(ids) == text
    assert not codec.control_ids & set(ids[len(codec.prefix) :])


@pytest.mark.parametrize("kind", LOSSLESS)
@given(text=TEXTS, numbers=ANY_IDS)
@FEW
def test_a_passage_is_exactly_itself_after_any_tokens(kind, text, numbers):
    codec = CODECS[kind]
    before = ids_of(codec, numbers)
    ids = codec.encode_passage(before, text)
    assert codec.decode([*before, *ids]) == codec.decode(before) + text
    assert not codec.control_ids & set(ids)


@pytest.mark.parametrize("kind", LOSSY)
@given(text=TEXTS, numbers=ANY_IDS)
@FEW
def test_a_lossy_tokenizer_writes_exactly_or_names_a_character(kind, text, numbers):
    codec = CODECS[kind]
    before = ids_of(codec, numbers)
    ids, error = written_or_refused(codec, before, text)
    if error is None:
        assert codec.decode([*before, *ids]) == codec.decode(before) + text
        assert not codec.control_ids & set(ids)
    else:
        place = int(re.search(r"at character (\d+) of", error)[1])
        assert f"cannot write {text[place]!r} (U+{ord(text[place]):04X}" in error


def written_or_refused(codec: Codec, before: list[int], text: str) -> tuple[list[int], str | None]:
    try:
        return codec.encode_passage(before, text), None
    except CodecError as error:
        return [], str(error)


WRITABLE = {
    "unigram": "The search begins (after Ada Berg): 555-1234,  é\n",
    "sentencepiece-nfkc": "The search begins (after Ada Berg): 555-1234,  é",
    "wordpiece-lower": "the search begins where the memory of the model ends : what follows is a wife",
    "wordpiece": "The search begins where the memory of the model ends : what follows Ada Berg is a wife",
    "characters": "The search: (after Ada Berg): 555-1234,  é\n<s></s><unk><search>",
}


@pytest.mark.parametrize(("kind", "text"), WRITABLE.items())
def test_a_lossy_tokenizer_writes_what_it_can(kind, text):
    codec = CODECS[kind]
    ids = codec.encode_prompt(text)
    assert codec.decode(ids) == front(codec) + text
    ids = codec.encode_passage(codec.prefix, text)
    assert codec.decode([*codec.prefix, *ids]) == front(codec) + text


@pytest.mark.parametrize("kind", KINDS)
@given(numbers=ANY_IDS)
@FEW
def test_any_tokens_streamed_are_the_text_of_all(kind, numbers):
    codec = CODECS[kind]
    ids = ids_of(codec, numbers)
    stream = codec.stream()
    assert "".join([*map(stream.push, ids), stream.flush()]) == codec.decode(ids)
    for cut in range(len(ids) + 1):
        rest = codec.stream(ids[:cut])
        text = "".join([*map(rest.push, ids[cut:]), rest.flush()])
        if "\ufffd" not in codec.decode(ids[:cut]):
            assert codec.decode(ids[:cut]) + text == codec.decode(ids)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("sentencepiece-slow", "trie")])
@given(text=st.text(alphabet="abc dehst.,é😀\n", max_size=30))
@FEW
def test_the_text_is_what_the_tokenizer_itself_shows(kind, text):
    """Spaces at the ends aside: some tokenizers strip them, ours never. Slow ones lose bytes."""
    codec = CODECS[kind]
    ids = codec.tokenizer.encode(text, add_special_tokens=False)
    ids = [index for index in ids if index not in codec.control_ids]
    shown = codec.tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    assert codec.decode(ids).strip() == shown.strip()


@pytest.mark.parametrize("kind", KINDS)
def test_the_markers_of_a_search_are_control_tokens_and_spelled_out(kind):
    codec = CODECS[kind]
    ids = codec.tokenizer.convert_tokens_to_ids(MARKERS)
    assert set(ids) <= codec.control_ids
    assert codec.decode([*codec.prefix, *ids]) == front(codec) + "".join(MARKERS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_tokenizer_alone_takes_text_for_control_tokens(kind):
    """The twin: without the codec, a spelled token is a control token."""
    codec = CODECS[kind]
    assert any(
        codec.control_ids & set(codec.tokenizer.encode(f"a{text}b", add_special_tokens=False)) for text in CONTROLS
    )


@pytest.mark.parametrize("kind", [kind for kind in LOSSLESS if CODECS[kind]._encoder.lead])
def test_the_tokenizer_alone_puts_a_space_before_a_passage(kind):
    """The twin: what `encode` makes of a passage is not the passage in its place."""
    codec = CODECS[kind]
    before = codec.encode_prompt("Ada Berg:")
    naive = codec.tokenizer.encode("555", add_special_tokens=False)
    assert codec.decode([*before, *naive]) == front(codec) + "Ada Berg: 555"
    assert codec.decode([*before, *codec.encode_passage(before, "555")]) == front(codec) + "Ada Berg:555"


@pytest.mark.parametrize("kind", LOSSLESS)
@pytest.mark.parametrize("fragment", FRAGMENTS, ids=ascii)
def test_hard_texts_are_written_alone_and_inside_others(kind, fragment):
    codec = CODECS[kind]
    for text in (fragment, f"a{fragment}", f"{fragment}a", f" {fragment} ", fragment * 2):
        assert codec.prompt_text(codec.encode_prompt(text)) == text


@pytest.mark.parametrize("kind", LOSSLESS)
def test_a_passage_after_a_cut_character_begins_a_character_of_its_own(kind):
    codec = CODECS[kind]
    cut = [index for index, data in codec._table.ordinary.items() if data == b"\xc3"]
    before = [*codec.encode_prompt("a"), *cut]
    assert codec.decode(before) == front(codec) + "a\ufffd"
    ids = codec.encode_passage(before, "é")
    assert codec.decode([*before, *ids]) == front(codec) + "a\ufffdé"


def test_what_ends_a_text_is_left_out_of_a_prompt():
    codec = CODECS["wordpiece"]
    assert codec.tokenizer.encode("the search")[-1] == codec.tokenizer.sep_token_id
    assert codec.decode(codec.encode_prompt("the search")) == "[CLS]the search"


def test_nothing_is_nothing():
    for codec in CODECS.values():
        assert codec.encode_prompt("") == codec.prefix
        assert codec.encode_passage([], "") == []
        assert codec.decode([]) == ""


def test_the_text_of_a_prompt_that_was_made_elsewhere_keeps_its_control_tokens():
    codec = CODECS["metaspace"]
    user = codec.tokenizer.convert_tokens_to_ids("<|user|>")
    assert codec.prompt_text([*codec.prefix, user, *codec.encode_passage([user], "hi")]) == "<|user|>hi"
    assert codec.prompt_text(codec.encode_passage([], "hi")) == "hi"


def test_a_long_text_is_decoded_without_asking_the_tokenizer(monkeypatch):
    codec = Codec(tiny_tokenizer("metaspace"))
    ids = codec.encode_prompt("after Ada Berg: é 😀\n" * 6000)
    assert len(ids) > 50_000
    for name in ("decode", "convert_ids_to_tokens", "convert_tokens_to_string"):
        monkeypatch.setattr(codec.tokenizer, name, None)
    assert codec.prompt_text(ids) == "after Ada Berg: é 😀\n" * 6000


def test_a_tokenizer_that_shows_another_text_is_refused():
    tokenizer = Tokenizer(models.BPE({letter: place for place, letter in enumerate("abcefimnost: 12")}, []))
    tokenizer.decoder = decoders.Fuse()
    assert Codec(PreTrainedTokenizerFast(tokenizer_object=tokenizer)).decode([0, 1]) == "ab"
    tokenizer.decoder = decoders.Sequence([decoders.Fuse(), decoders.Replace("name", "game")])
    with pytest.raises(CodecError, match=r"shows \[.*\] as 'so it is a game: 12', and its tokens one by one are"):
        Codec(PreTrainedTokenizerFast(tokenizer_object=tokenizer))
