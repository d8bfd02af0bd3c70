"""A text as tokens that are exactly this text, in its place: the tokenizer's own choice where it is exact, else pieces.

What a tokenizer makes of a text is checked byte by byte against the table of its tokens. It is wrong where the
tokenizer takes a part of the text for a control token, changes it (Unicode normal forms, white space, case), puts a
space before it, or does not know a character. Then the text is halved and each half is tried again, so that nearly all
of a long text keeps the tokens that the model was trained with; a piece of a few characters is covered by as few tokens
as possible.
"""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, final

from recherche.errors import CodecError
from recherche.lm.token_bytes import TokenBytes, name_of

_SHORT, _SHORT_WORD = 16, 64
"""Characters of a piece, and of one without white space, that is covered token by token instead of being halved."""
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
    def _ordered(self) -> list[bytes]:
        return sorted(self._by_bytes)

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
        middle = _cut(text)
        if len(text) <= _SHORT or middle == 0:
            return self._cover(data, offset, lead)
        return self._encode(text[:middle], offset, lead) + self._encode(text[middle:], offset + middle, b"")

    def _proposals(self, text: str, lead: bytes) -> Iterator[list[int]]:
        """What the tokenizer makes of the text; where that has control tokens, also what it makes without them."""
        seen: set[int] = set()
        for splits_special in (False, True):
            for ids in self._proposals_in_place(text, lead, splits_special=splits_special):
                yield ids
                seen.update(ids)
            if not seen & self._table.control.keys():
                return

    def _proposals_in_place(self, text: str, lead: bytes, *, splits_special: bool) -> Iterator[list[int]]:
        if lead == self.lead:
            yield self._propose(text, splits_special=splits_special)
            return
        if self.lead and text.startswith(self.lead.decode()):
            yield self._propose(text[1:], splits_special=splits_special)
            return
        for anchor in _ANCHORS:
            ids = self._propose(anchor + text, splits_special=splits_special)
            size = self._tokens_of(anchor.encode(), ids)
            if size:
                yield ids[size:]
                return

    def _propose(self, text: str, *, splits_special: bool) -> list[int]:
        return self._tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=splits_special, verbose=False
        )

    def _tokens_of(self, anchor: bytes, ids: list[int]) -> int:
        """How many of the first tokens are the anchor; 0 if no token ends with it."""
        sizes = range(1, min(len(ids), 2 * len(anchor)) + 1)
        return next((size for size in sizes if self._join(ids[:size]).removeprefix(self.lead) == anchor), 0)

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
            reached = max(reached, end + self._agreement(target[end:]) - (len(target) - len(data)))
        last = min(reached, len(data) - 1)
        raise _UnwritableError(offset + len(data[:last].decode(errors="ignore")))

    def _agreement(self, data: bytes) -> int:
        """How many bytes at the beginning agree with some token, which then differs."""
        for size in range(min(len(data), self._longest), 0, -1):
            place = bisect_left(self._ordered, data[:size])
            if place < len(self._ordered) and self._ordered[place].startswith(data[:size]):
                return size
        return 0

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
    """Where to halve a text: at the white space nearest to its middle; 0 if it is a short word."""
    middle = len(text) // 2
    before = max(text.rfind(space, 1, middle + 1) for space in " \n")
    after = min((place for space in " \n" if (place := text.find(space, middle)) > 0), default=-1)
    near = [place for place in (before, after) if place > 0]
    if near:
        return min(near, key=lambda place: abs(place - middle))
    return 0 if len(text) <= _SHORT_WORD else middle


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"a text of {len(text)} characters"
