"""A text as tokens that are exactly this text, in its place: the tokenizer's own choice where it is exact, else pieces.

What a tokenizer makes of a text is checked byte by byte against the table of its tokens. It is wrong where the
tokenizer takes a part of the text for a control token, changes it (Unicode normal forms, white space, case), puts a
space before it, or does not know a character. Then the text is halved and each half is tried again, so that nearly all
of a long text keeps the tokens that the model was trained with; a piece of a few characters is covered by as few tokens
as possible.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, final

from recherche.errors import CodecError
from recherche.lm.token_bytes import TokenBytes, name_of

_SHORT = 16
"""Characters of a piece that is covered token by token instead of being halved again."""
_ANCHORS = ("\n", "a", ":")
"""Texts that are put before a passage to show the tokenizer that it does not begin a text."""


class _UnwritableError(Exception):
    """There is no token for the character at this index."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


@final
class ExactEncoder:
    """Writes texts in the tokens of a tokenizer, exactly or not at all."""

    def __init__(self, tokenizer: Any, table: TokenBytes) -> None:
        self._tokenizer, self._table = tokenizer, table
        first = self._propose("a", splits_special=False)
        self.lead = b" " if self._join(first)[:1] == b" " else b""
        """The space that the tokenizer puts before a text, and that its text is shown without."""

    @cached_property
    def _by_bytes(self) -> dict[bytes, int]:
        """The most usual token for each string of bytes."""
        return {data: index for index, data in self._table.ordinary.items() if data}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._by_bytes))

    def encode(self, text: str, lead: bytes) -> list[int]:
        """Ordinary tokens whose bytes are the text; `lead` may stand before it.

        Raises:
            CodecError: no sequence of tokens is this text; the first character that cannot be written is named.
        """
        try:
            return self._encode(text, 0, lead)
        except _UnwritableError as error:
            character = text[error.index]
            code = f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
            raise CodecError(
                f"{name_of(self._tokenizer)} cannot write {character!r} ({code}) at character {error.index} of "
                f"{_shown(text)}: none of its tokens does in this place; leave the character out, or use a tokenizer "
                "that falls back on bytes."
            ) from None

    def _encode(self, text: str, offset: int, lead: bytes) -> list[int]:
        if not text:
            return []
        try:
            data = text.encode()
        except UnicodeEncodeError as error:  # a lone surrogate is no character
            raise _UnwritableError(offset + error.start) from None
        for ids in self._proposals(text, lead):
            found = self._join(ids)
            if (found.removeprefix(lead) if lead else found) == data and self._table.ordinary.keys() >= set(ids):
                return ids
        if len(text) <= _SHORT:
            return self._cover(data, offset, lead)
        middle = _cut(text)
        return self._encode(text[:middle], offset, lead) + self._encode(text[middle:], offset + middle, b"")

    def _proposals(self, text: str, lead: bytes) -> Iterator[list[int]]:
        """What the tokenizer makes of the text, as it is and without its special tokens."""
        for splits_special in (False, True):
            if lead == self.lead:
                yield self._propose(text, splits_special=splits_special)
                continue
            if text.startswith(" "):
                yield self._propose(text[1:], splits_special=splits_special)
            for anchor in _ANCHORS:
                yield self._after(anchor, text, splits_special=splits_special)

    def _propose(self, text: str, *, splits_special: bool) -> list[int]:
        return self._tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=splits_special, verbose=False
        )

    def _after(self, anchor: str, text: str, *, splits_special: bool) -> list[int]:
        """The tokens of the text behind another one; none if no token ends between them."""
        ids, begin, end = self._propose(anchor + text, splits_special=splits_special), anchor.encode(), 0
        while end < len(ids) and self._join(ids[:end]).removeprefix(self.lead) != begin and end <= len(begin) + 1:
            end += 1
        return ids[end:]

    def _join(self, ids: Sequence[int]) -> bytes:
        return b"".join(self._table.ordinary.get(index, b"") for index in ids)

    def _cover(self, data: bytes, offset: int, lead: bytes) -> list[int]:
        """As few tokens as possible for a short piece."""
        targets = [lead + data] if lead and data.startswith(lead) else [lead + data, data] if lead else [data]
        reached = 0
        for target in targets:
            ids, end = self._shortest_cover(target)
            if end == len(target):
                return ids
            reached = max(reached, end - (len(target) - len(data)))
        raise _UnwritableError(offset + len(data[:reached].decode(errors="ignore")))

    def _shortest_cover(self, data: bytes) -> tuple[list[int], int]:
        """The fewest tokens that are the data, and how far any tokens came."""
        best: list[tuple[int, int, int] | None] = [(0, 0, 0)] + [None] * len(data)  # tokens, last one, where it begins
        reached = 0
        for begin, found in enumerate(best):
            if found is None:
                continue
            reached = begin
            for end in range(begin + 1, min(len(data), begin + self._longest) + 1):
                index = self._by_bytes.get(data[begin:end])
                there = best[end]
                if index is not None and (there is None or there[0] > found[0] + 1):
                    best[end] = (found[0] + 1, index, begin)
        ids, end = [], reached
        while end:
            _, index, end = best[end] or (0, 0, 0)
            ids.append(index)
        return ids[::-1], reached


def _cut(text: str) -> int:
    """Where to halve a text: at white space in the quarter before its middle, if there is some."""
    middle = len(text) // 2
    quarter = text[middle // 2 : middle]
    space = max(quarter.rfind(" "), quarter.rfind("\n"))
    return middle // 2 + space if space > 0 else middle


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"a text of {len(text)} characters"
