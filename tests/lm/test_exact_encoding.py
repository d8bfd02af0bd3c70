"""Texts as tokens: the tokenizer's own where it is exact, few others where it is not, one error where nothing is."""

import re

import pytest

from recherche.errors import CodecError
from recherche.lm.exact_encoding import ExactEncoder, _cut
from recherche.lm.token_bytes import read_token_bytes
from tests.lm.tokenizers import CORPUS, KINDS, tiny_tokenizer

PROSE = " ".join(line for line in CORPUS if "\n" not in line and "<" not in line and "é" not in line)


def encoder_of(tokenizer) -> ExactEncoder:
    return ExactEncoder(tokenizer, read_token_bytes(tokenizer))


class Counted:
    """A tokenizer that counts how often, and on how much, it is asked."""

    def __init__(self, tokenizer) -> None:
        self._tokenizer = tokenizer
        self.characters = 0

    def encode(self, text: str, **options) -> list[int]:
        self.characters += len(text)
        return self._tokenizer.encode(text, **options)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("wordpiece")])
def test_prose_keeps_the_tokens_of_the_tokenizer(kind):
    tokenizer = tiny_tokenizer(kind)
    encoder = encoder_of(tokenizer)
    expected = tokenizer.encode(PROSE, add_special_tokens=False)
    assert encoder.encode(PROSE, encoder.lead) == expected
    after_a_space = expected if encoder.lead else tokenizer.encode(f" {PROSE}", add_special_tokens=False)
    assert encoder.encode(f" {PROSE}", b"") == after_a_space


def test_one_spelled_control_token_changes_only_the_tokens_around_it():
    tokenizer = tiny_tokenizer("characters")
    encoder = encoder_of(tokenizer)
    text = PROSE.translate({ord(c): "x" for c in PROSE if ord(c) > 127 or c in "[]{}@$%&~^*\\"}) * 20
    assert encoder.encode(f"{text}<unk>{text}", b"") == [
        index for part in (text, "<", "unk", ">", text) for index in tokenizer.encode(part)
    ]


@pytest.mark.parametrize("kind", ["metaspace", "unigram-bytes", "sentencepiece"])
def test_far_from_what_it_cannot_write_the_tokens_are_those_of_the_tokenizer(kind):
    tokenizer = tiny_tokenizer(kind)
    encoder = encoder_of(tokenizer)
    text = f"{PROSE} " * 10
    plain = tokenizer.encode(text, add_special_tokens=False)
    ids = encoder.encode(f"{text}▁ {text}", encoder.lead)
    pairs = list(zip(ids, plain, strict=False))
    same = next((place for place, (ours, theirs) in enumerate(pairs) if ours != theirs), len(pairs))
    assert same > len(plain) - 20
    assert len(ids) < 2 * len(plain) + 60


@pytest.mark.parametrize("kind", ["metaspace", "unigram-bytes", "sentencepiece"])
@pytest.mark.parametrize("bad", ["▁", "<s>"])
def test_what_is_asked_of_the_tokenizer_grows_with_the_length_and_not_with_its_square(kind, bad):
    asked = []
    for length in (64, 512):
        tokenizer = tiny_tokenizer(kind)
        encoder = encoder_of(tokenizer)
        encoder._tokenizer = Counted(tokenizer)
        text = f"the memory {bad} of the model" * length
        encoder.encode(text, encoder.lead)
        asked.append(encoder._tokenizer.characters)
    assert asked[1] / asked[0] < 16  # eight times as long; a square would be 64


@pytest.mark.parametrize(
    "text", ["", "a", "a" * 64, "a" * 65, "the end", " a", "a b " * 50, "\n" + "b" * 99, "東" * 99]
)
def test_a_text_is_halved_at_white_space(text):
    place = _cut(text)
    assert 0 <= place < max(1, len(text))
    assert (place == 0) == (len(text) <= 64 and not {" ", "\n"} & set(text[1:]))
    assert text[place : place + 1] in ("", " ", "\n") or not {" ", "\n"} & set(text[1:]) or place == 0


def test_a_piece_is_covered_by_as_few_tokens_as_possible():
    tokenizer = tiny_tokenizer("trie")
    encoder = encoder_of(tokenizer)
    known = [data for data in encoder._by_bytes if len(data) > 1]
    assert b" search" in known
    for text in (" search the", "<ss<s", "東京都"):
        ids, end = encoder._shortest_cover(text.encode())
        assert end == len(text.encode())
        assert len(ids) == fewest(text.encode(), set(encoder._by_bytes))


def fewest(data: bytes, known: set[bytes]) -> int:
    """The oracle: all ways to cut the data."""
    return min((1 + fewest(data[end:], known) for end in range(1, len(data) + 1) if data[:end] in known), default=0)


ERRORS = {
    "upper case": ("wordpiece-lower", "the Search", "'S' (U+0053 LATIN CAPITAL LETTER S) at character 4"),
    "two spaces": ("wordpiece", "the  search", "' ' (U+0020 SPACE) at character 4"),
    "space at the end": ("wordpiece", "the ", "' ' (U+0020 SPACE) at character 3"),
    "no such piece": ("wordpiece", "the,", "',' (U+002C COMMA) at character 3"),
    "line break": ("wordpiece", "the\nsearch", r"'\n' (U+000A) at character 3"),
    "no token": ("unigram", "search ☃", "'☃' (U+2603 SNOWMAN) at character 7"),
    "the sign for a space": ("unigram", "a▁b", "'▁' (U+2581 LOWER ONE EIGHTH BLOCK) at character 1"),
    "normal form": ("sentencepiece-nfkc", "ﬁ", "'ﬁ' (U+FB01 LATIN SMALL LIGATURE FI) at character 0"),
    "far inside": ("characters", "a" * 1000 + "☃" + "a" * 1000, "at character 1000 of a text of 2001 characters"),
    "half a pair": ("bytes", "a\ud83d", r"'\ud83d' (U+D83D) at character 1"),
    "half a pair in byte-level": ("byte-level", "\ud83d", r"'\ud83d' (U+D83D) at character 0"),
}


@pytest.mark.parametrize(("kind", "text", "message"), ERRORS.values(), ids=ERRORS)
def test_the_first_character_that_cannot_be_written_is_named(kind, text, message):
    encoder = encoder_of(tiny_tokenizer(kind))
    with pytest.raises(CodecError, match=re.escape(f" cannot write {message}" if message[0] == "'" else message)):
        encoder.encode(text, encoder.lead)
