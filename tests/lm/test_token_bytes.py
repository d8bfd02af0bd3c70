"""What each token adds to a text, against what the tokenizers themselves show."""

import pytest
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from recherche.errors import CodecError
from recherche.lm.token_bytes import name_of, read_token_bytes
from tests.lm.tokenizers import KINDS, tiny_tokenizer

BYTES = {  # kind -> a token and what it adds in the middle of a text
    "byte-level": {"Ġ": b" ", "Ã": b"\xc3", "Ģ": b"\x80", "a": b"a", "    ": b"    "},
    "metaspace": {"▁": b" ", "<0xC3>": b"\xc3", "<0x00>": b"\0", "a": b"a", "▁a": b" a"},
    "unigram": {"▁": b" ", "a": b"a", "é": "é".encode()},
    "unigram-bytes": {"<0xC3>": b"\xc3", "<0x41>": b"A", "▁a": b" a"},
    "wordpiece": {"##a": b"a", "a": b" a", "é": " é".encode()},
    "bytes": {"a": b"a", "Ã": b"\xc3", "\x80": b"\x80"},
    "characters": {"a": b"a", " ": b" ", "\n": b"\n"},
    "sentencepiece": {"▁": b" ", "<0xC3>": b"\xc3"},
    "sentencepiece-slow": {"▁": b" ", "<0xC3>": b"\xc3", "<0x0A>": b"\n"},
    "trie": {b"\xc3": b"\xc3", "東".encode(): "東".encode(), b" Ada Berg": b" Ada Berg"},
}
CASES = [(kind, token, data) for kind, tokens in BYTES.items() for token, data in tokens.items()]


def numbered(tokenizer, token) -> int:
    """The id of a token, by another way than the code under test."""
    return next(index for known, index in tokenizer.get_vocab().items() if known == token)


@pytest.mark.parametrize(("kind", "token", "data"), CASES, ids=[f"{kind} {token!r}" for kind, token, _ in CASES])
def test_a_token_adds_its_bytes(kind, token, data):
    tokenizer = tiny_tokenizer(kind)
    assert read_token_bytes(tokenizer).ordinary[numbered(tokenizer, token)] == data


@pytest.mark.parametrize("kind", KINDS)
def test_every_token_is_ordinary_or_control(kind):
    tokenizer = tiny_tokenizer(kind)
    table = read_token_bytes(tokenizer)
    assert not table.ordinary.keys() & table.control.keys()
    assert table.ordinary.keys() | table.control.keys() == set(tokenizer.get_vocab().values())
    assert set(tokenizer.all_special_ids) <= table.control.keys()
    assert all(
        table.control[index] == token for token, index in tokenizer.get_vocab().items() if index in table.control
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("bytes", "trie", "sentencepiece-slow")])
def test_two_tokens_are_shown_as_the_sum_of_both(kind):
    """Every token behind every tenth one, as the tokenizer shows them; ByT5, RWKV and slow SentencePiece lose bytes."""
    tokenizer = tiny_tokenizer(kind)
    table = read_token_bytes(tokenizer).ordinary
    whole = [index for index, data in sorted(table.items()) if data.isascii()]
    for first in [index for index in whole[::10] if not tokenizer.convert_ids_to_tokens(index).startswith("##")]:
        for second in whole[::7]:
            shown = tokenizer.decode([first, second], clean_up_tokenization_spaces=False)
            assert shown.strip() == (table[first] + table[second]).decode().strip()


@pytest.mark.parametrize("kind", KINDS)
def test_an_added_token_that_is_not_special_is_text(kind):
    tokenizer = tiny_tokenizer(kind)
    tokenizer.add_tokens(["<plain>"])
    index = tokenizer.convert_tokens_to_ids("<plain>")
    assert read_token_bytes(tokenizer).ordinary[index].strip() == b"<plain>"


def test_tokens_that_a_chat_template_writes_are_control():
    tokenizer = tiny_tokenizer("byte-level")
    tokenizer.add_tokens(["<tool>", "<think>"])
    before = read_token_bytes(tokenizer)
    tokenizer.chat_template = "{{ messages }}<tool>"
    after = read_token_bytes(tokenizer)
    assert set(after.control.values()) - set(before.control.values()) == {"<tool>"}
    tokenizer.chat_control_tokens = ["<think>"]
    tokenizer.chat_template += "\n"
    assert set(read_token_bytes(tokenizer).control.values()) - set(before.control.values()) == {"<think>"}


def test_a_table_is_read_once_and_again_when_tokens_were_added(monkeypatch):
    tokenizer = tiny_tokenizer("metaspace")
    first = read_token_bytes(tokenizer)
    assert read_token_bytes(tokenizer) is first
    tokenizer.add_special_tokens({"extra_special_tokens": ["<new>"]})
    assert "<new>" in read_token_bytes(tokenizer).control.values()


def shown_by(decoder) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "a": 1, "aa": 2, "b": 3}, unk_token="<unk>"))
    tokenizer.decoder = decoder
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def test_a_tokenizer_whose_tokens_depend_on_their_neighbours_is_refused():
    with pytest.raises(CodecError, match="which does not tell the token's bytes; choose a tokenizer"):
        read_token_bytes(shown_by(decoders.Sequence([decoders.Fuse(), decoders.Replace("ab", "X")])))
    assert read_token_bytes(shown_by(decoders.Fuse())).ordinary == {1: b"a", 2: b"aa", 3: b"b"}


def test_a_tokenizer_without_a_letter_that_stays_is_refused():
    with pytest.raises(CodecError, match="no token that adds the same letters in every place"):
        read_token_bytes(shown_by(decoders.CTC(pad_token="-", word_delimiter_token="|", cleanup=False)))


@pytest.mark.parametrize("kind", ["trie", "characters"])
def test_a_vocabulary_that_has_lost_bytes_is_refused(kind, monkeypatch):
    tokenizer = tiny_tokenizer(kind)
    names = {"\ufffd": 7} if kind == "characters" else {}
    shown = {key.decode(errors="replace") if isinstance(key, bytes) else key for key in tokenizer.get_vocab()}
    vocabulary = {name: place for place, name in enumerate(sorted(shown))} | names
    monkeypatch.setattr(tokenizer, "get_vocab", lambda: vocabulary)
    with pytest.raises(CodecError, match="which has lost the token's bytes; choose a tokenizer whose vocabulary"):
        read_token_bytes(tokenizer)


def test_a_vocabulary_with_half_a_surrogate_pair_is_refused(monkeypatch):
    """As of CANINE, whose tokens are all code points."""
    tokenizer = tiny_tokenizer("characters")
    monkeypatch.setattr(tokenizer, "get_vocab", lambda: {"a": 10, "\ud83d": 11})
    with pytest.raises(CodecError, match=r"CharacterTokenizer has a token '\\ud83d' that is no text"):
        read_token_bytes(tokenizer)


def test_a_token_that_is_the_replacement_character_is_read():
    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1, "\ufffd": 2}, []))
    tokenizer.decoder = decoders.Fuse()
    table = read_token_bytes(PreTrainedTokenizerFast(tokenizer_object=tokenizer))
    assert table.ordinary == {0: b"a", 1: b"b", 2: "\ufffd".encode()}


def test_errors_name_the_class_and_the_folder():
    tokenizer = tiny_tokenizer("bytes")
    assert name_of(tokenizer) == "ByT5Tokenizer"
    tokenizer.name_or_path = "a/folder"
    assert name_of(tokenizer) == "ByT5Tokenizer('a/folder')"
