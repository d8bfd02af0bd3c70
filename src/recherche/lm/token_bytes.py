"""What each token of a tokenizer adds to a text: ordinary tokens bytes, control tokens their own name.

A tokenizer's `decode` works on whole texts: it drops spaces at the beginning, shows a cut character as U+FFFD, and
takes as long as the text is. Yet nearly every tokenizer is a table from token to bytes, and this file reads that table
off:

    token is bytes          RWKV's World models, tiktoken: the vocabulary holds the bytes
    token is spelled bytes  byte-level BPE (one of 256 letters a byte), ByT5 (the character of that number)
    token is `<0xC3>`       byte fallback of SentencePiece models
    all others              what stands between two neighbours when the tokenizer shows the three of them

How bytes are spelled is found by showing the two bytes of one character to the tokenizer. A tokenizer whose tokens
change their text with their neighbours is refused.

Reference: Kudo & Richardson (2018), SentencePiece, https://arxiv.org/abs/1808.06226
"""

import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

from recherche.errors import CodecError

_PROBE = "À"
"""Two bytes, 0xC3 and 0x80, which the three ways to spell bytes spell differently."""
_RARE = "\u0e5b"
"""A character that few vocabularies hold: written in bytes by a tokenizer that falls back on them."""
_HEXADECIMAL = re.compile(r"<0x[0-9A-F]{2}>")
_REPLACEMENT = "\ufffd"
_SPACE_SIGN = "▁"
_AT_ONCE = 256


def _byte_letters() -> dict[int, str]:
    """The letter of each byte in byte-level BPE: printable bytes stand for themselves, others are U+0100 and so on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(0x100 + place) for place, byte in enumerate(others)}


_LETTERS = MappingProxyType(_byte_letters())
_TO_LATIN = MappingProxyType(
    dict.fromkeys(range(0x100), _REPLACEMENT) | {ord(letter): chr(byte) for byte, letter in _LETTERS.items()}
)
"""Letters to the Latin-1 character of their byte, and what is no letter to one that Latin-1 has not."""


@final
@dataclass(frozen=True, slots=True)
class TokenBytes:
    """The table of a tokenizer; a number in neither has no token, and adds nothing.

    Attributes:
        ordinary: what each ordinary token adds in the middle of a text; of two with the same bytes the second is the
            more usual one, `A` after `<0x41>`.
        control: how each control token is spelled out.
    """

    ordinary: Mapping[int, bytes]
    control: Mapping[int, str]


def name_of(tokenizer: Any) -> str:
    """How errors call a tokenizer."""
    name = type(tokenizer).__name__
    return f"{name}({tokenizer.name_or_path!r})" if tokenizer.name_or_path else name


_READ: weakref.WeakKeyDictionary[Any, tuple[object, TokenBytes]] = weakref.WeakKeyDictionary()


def read_token_bytes(tokenizer: Any) -> TokenBytes:
    """The table of a tokenizer of transformers, fast or slow; read once, and again when tokens were added to it.

    Raises:
        CodecError: a token's text depends on its neighbours, or the tokenizer does not tell its bytes.
    """
    version = (len(tokenizer), tuple(tokenizer.all_special_tokens), repr(tokenizer.chat_template))
    before, table = _READ.get(tokenizer, (None, None))
    if table is None or before != version:
        try:
            table = _read(tokenizer)
        except UnicodeEncodeError as error:  # half of a surrogate pair
            raise CodecError(
                f"{name_of(tokenizer)} has a token {error.object[error.start]!r} that is no text; choose another one."
            ) from None
        _READ[tokenizer] = (version, table)
    return table


def _read(tokenizer: Any) -> TokenBytes:
    vocabulary = tokenizer.get_vocab()
    added = {index: str(token) for index, token in tokenizer.added_tokens_decoder.items()}
    control_ids = _control_ids(tokenizer, added)
    numbers = {*vocabulary.values(), *added}
    ids = sorted(numbers - control_ids, reverse=True)
    control = {index: added.get(index) or str(tokenizer.convert_ids_to_tokens(index)) for index in control_ids}
    tokens = {index: token for token, index in vocabulary.items()} | added
    if any(isinstance(token, bytes) for token in vocabulary):
        named = ((index, tokens[index]) for index in ids)
        return TokenBytes({index: name if isinstance(name, bytes) else name.encode() for index, name in named}, control)
    _refuse_lost_bytes(tokenizer, {index: tokens[index] for index in ids})
    ids.sort(key=lambda index: len(tokens[index]), reverse=True)
    data = _bytes_of(tokenizer, [tokens[index] for index in ids])
    return TokenBytes({index: data[tokens[index]] for index in ids}, control)


def _refuse_lost_bytes(tokenizer: Any, tokens: Mapping[int, str]) -> None:
    """A name with U+FFFD is either this character, and the tokenizer writes it so, or bytes that the name has lost."""
    for index, token in tokens.items():
        if _REPLACEMENT in token and index not in tokenizer.encode(token, add_special_tokens=False):
            raise CodecError(
                f"{name_of(tokenizer)} calls its token {index} {token!r}, which has lost the token's bytes; choose a "
                "tokenizer whose vocabulary tells them."
            )


def _control_ids(tokenizer: Any, added: dict[int, str]) -> frozenset[int]:
    """Ids that steer a model instead of adding text: special tokens, and those that a chat template writes."""
    named = {index for index in tokenizer.all_special_ids if index is not None}
    special = {index for index, token in tokenizer.added_tokens_decoder.items() if token.special}
    chat = getattr(tokenizer, "chat_control_tokens", None)  # younger than transformers 5
    if chat is None:
        template = tokenizer.chat_template or ""
        text = template if isinstance(template, str) else "\n".join(map(str, template.values()))
        chat = [token for token in added.values() if not token.isspace() and token in text]
    return frozenset(named | special | {index for index, token in added.items() if token in set(chat)})


def _bytes_of(tokenizer: Any, tokens: Sequence[str]) -> dict[str, bytes]:
    """What each token adds, by the way in which the tokenizer spells bytes."""
    first, second = _PROBE.encode()
    spelled: dict[str, bytes] = {}
    if _shows(tokenizer, [_LETTERS[first], _LETTERS[second]]):
        return {token: _from_letters(token) for token in tokens}
    if _shows(tokenizer, [chr(first), chr(second)]):
        spelled = {token: token.encode("latin-1") for token in tokens if len(token) == 1 and token < "\u0100"}
    elif _shows(tokenizer, [f"<0x{first:02X}>", f"<0x{second:02X}>"]) or _falls_back(tokenizer):
        spelled = {token: bytes.fromhex(token[3:5]) for token in tokens if _HEXADECIMAL.fullmatch(token)}
    others = [token for token in tokens if token not in spelled]
    return spelled | (_Neighbours(tokenizer, tokens).bytes_of(others) if others else {})


def _from_letters(token: str) -> bytes:
    """A token of byte-level BPE; one that was added is written as it is."""
    try:
        return token.translate(_TO_LATIN).encode("latin-1")
    except UnicodeEncodeError:
        return token.encode()


def _shows(tokenizer: Any, tokens: list[str]) -> bool:
    """Whether the tokenizer shows these tokens as the one character of the probe."""
    try:
        return tokenizer.convert_tokens_to_string(tokens).strip() == _PROBE
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


def _falls_back(tokenizer: Any) -> bool:
    """Whether a rare character is written in tokens of bytes, also where `decode` does not know them."""
    expected = [f"<0x{byte:02X}>" for byte in _RARE.encode()]
    tokens = tokenizer.convert_ids_to_tokens(tokenizer.encode(_RARE, add_special_tokens=False))
    return tokens[-len(expected) :] == expected


class _Neighbours:
    """Shows a token between two others, so that what a tokenizer does at the ends of a text does not count."""

    def __init__(self, tokenizer: Any, tokens: Sequence[str]) -> None:
        self._name = name_of(tokenizer)
        self._show: Callable[[list[str]], str] = tokenizer.convert_tokens_to_string
        for anchor in tokens:
            alone = self._show([anchor])
            following = self._show([anchor, anchor]).removeprefix(alone)
            stays = following.strip() == alone and self._show([anchor] * 3) == alone + 2 * following
            if stays and alone.isalpha() and alone.isascii():
                self._anchor, self._alone, self._following = anchor, alone, following
                return
        raise CodecError(f"{self._name} has no token that adds the same letters in every place; choose another one.")

    def bytes_of(self, tokens: Sequence[str]) -> dict[str, bytes]:
        """What the tokens add between their neighbours, in UTF-8.

        Most are what is written in the vocabulary, with a sign for a space. That is tried for many tokens at once.
        """
        found: dict[str, bytes] = {}
        for start in range(0, len(tokens), _AT_ONCE):
            part = tokens[start : start + _AT_ONCE]
            guesses = [token.replace(_SPACE_SIGN, " ") for token in part]
            shown = self._show([self._anchor, *(name for token in part for name in (token, self._anchor))])
            if shown == self._alone + "".join(guess + self._following for guess in guesses):
                found |= {token: guess.encode() for token, guess in zip(part, guesses, strict=True)}
            else:
                found |= {token: self._bytes_of_one(token) for token in part}
        return found

    def _bytes_of_one(self, token: str) -> bytes:
        shown = self._show([self._anchor, token, self._anchor])
        inside = shown.removeprefix(self._alone).removesuffix(self._following)
        if self._alone + inside + self._following != shown or (_REPLACEMENT in inside and _REPLACEMENT not in token):
            raise CodecError(
                f"{self._name} shows its token {token!r} between two others as {shown!r}, which does not tell "
                "the token's bytes; choose a tokenizer whose text is the sum of its tokens."
            )
        return inside.encode()
