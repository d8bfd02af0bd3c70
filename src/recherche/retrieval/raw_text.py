"""A text as it was written: characters with lines, of which some stretches are hidden from every search.

What is searched are the UTF-8 bytes of the visible text. Positions that are reported are those of the whole text, with
what is hidden counted. One mark for every few thousand bytes says how many characters and line breaks stand before it.
"""

from bisect import bisect_left
from typing import NamedTuple, final

from recherche.errors import InputError
from recherche.retrieval.growing_bytes import GrowingBytes

_BLOCK = 4096
_CONTINUATION = bytes(range(0x80, 0xC0))
_ASCII = bytes(range(0x80))
Bytes = tuple[int, int]
"""Where a stretch of the visible bytes begins and ends."""


class Place(NamedTuple):
    """Where something stands in the whole text; line and column count from 1, in characters."""

    span: tuple[int, int]
    byte_span: tuple[int, int]
    line: int
    column: int


class _Hidden(NamedTuple):
    """What is hidden up to and with the stretch after visible byte `at`, and where the last line break in it ends."""

    at: int
    characters: int
    bytes: int
    breaks: int
    line_start: int


_NOTHING_HIDDEN = _Hidden(0, 0, 0, 0, 0)


@final
class RawText(GrowingBytes):
    """The visible bytes of a text, and the places of the whole text for them."""

    __slots__ = ("_breaks", "_characters", "_hidden", "_is_ascii", "_looked_at", "beyond_ascii", "n_characters")

    def __init__(self) -> None:
        super().__init__()
        self.n_characters = 0
        self.beyond_ascii: set[str] = set()
        self._looked_at = 0
        self._is_ascii = True
        self._characters = [0]
        self._breaks = [0]
        self._hidden: list[_Hidden] = []

    def extend(self, text: str) -> None:
        """Add visible text.

        Raises:
            InputError: it holds a lone surrogate.
        """
        self.append(encoded(text))
        self._is_ascii = self._is_ascii and text.isascii()
        self.n_characters += len(text)

    def hide(self, text: str) -> None:
        """Add text that is left out of the visible bytes.

        Raises:
            InputError: it holds a lone surrogate.
        """
        data = encoded(text)
        if text:
            before = self._hidden[-1] if self._hidden else _NOTHING_HIDDEN
            last = text.rfind("\n")
            line_start = before.line_start if last < 0 else self.n_characters + last + 1
            breaks = before.breaks + text.count("\n")
            size = before.characters + len(text), before.bytes + len(data)
            self._hidden.append(_Hidden(len(self.data), *size, breaks, line_start))
        self.n_characters += len(text)

    def fork(self) -> "RawText":
        """The same text, which grows on its own."""
        twin = RawText()
        self.share_with(twin)
        twin.n_characters, twin._looked_at, twin._is_ascii = self.n_characters, self._looked_at, self._is_ascii
        twin.beyond_ascii = self.beyond_ascii.copy()
        twin._characters, twin._breaks, twin._hidden = self._characters.copy(), self._breaks.copy(), self._hidden.copy()
        return twin

    def occurring(self) -> set[str]:
        """The characters beyond ASCII that the visible text holds."""
        if not self._is_ascii and self._looked_at < len(self.data):
            self.beyond_ascii.update(self.data[self._looked_at :].translate(None, _ASCII).decode())
            self._looked_at = len(self.data)
        return self.beyond_ascii

    def cut(self, begin: int, end: int) -> str:
        """The text between two visible bytes."""
        return self.data[begin:end].decode()

    def place_of(self, begin: int, end: int) -> Place:
        """Where the text between two visible bytes stands; it begins after what is hidden there, and ends before."""
        before = self._hidden_before(begin + 1)
        first = self._count_characters(begin) + before.characters
        past, past_byte = first, begin + before.bytes
        if end > begin:
            within = self._hidden_before(end)
            past, past_byte = self._count_characters(end) + within.characters, end + within.bytes
        line = 1 + self._count_breaks(begin) + before.breaks
        column = first - max(self._line_start(begin), before.line_start) + 1
        return Place((first, past), (begin + before.bytes, past_byte), line, column)

    def _hidden_before(self, at: int) -> _Hidden:
        row = bisect_left(self._hidden, at, key=lambda hidden: hidden.at)
        return self._hidden[row - 1] if row else _NOTHING_HIDDEN

    def _count_characters(self, at: int) -> int:
        """Number of visible characters before byte `at`."""
        if self._is_ascii:
            return at
        row = self._marked(at)
        return self._characters[row] + _count(self.data, row * _BLOCK, at)

    def _count_breaks(self, at: int) -> int:
        row = self._marked(at)
        return self._breaks[row] + self.data.count(b"\n", row * _BLOCK, at)

    def _line_start(self, at: int) -> int:
        """The first character, in the whole text, after the last visible line break before byte `at`."""
        row = self._marked(at)
        found = self.data.rfind(b"\n", row * _BLOCK, at)
        if found < 0 and self._breaks[row]:
            row = bisect_left(self._breaks, self._breaks[row], 0, row) - 1
            found = self.data.rfind(b"\n", row * _BLOCK, (row + 1) * _BLOCK)
        if found < 0:
            return 0
        return self._count_characters(found + 1) + self._hidden_before(found + 1).characters

    def _marked(self, at: int) -> int:
        """The block that holds byte `at`, with marks up to it."""
        row = at // _BLOCK
        while len(self._breaks) <= row:
            begin = (len(self._breaks) - 1) * _BLOCK
            self._breaks.append(self._breaks[-1] + self.data.count(b"\n", begin, begin + _BLOCK))
            self._characters.append(self._characters[-1] + _count(self.data, begin, begin + _BLOCK))
        return row


def encoded(text: str) -> bytes:
    """The text in UTF-8.

    Raises:
        InputError: it holds a lone surrogate.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"A text holds characters, got the lone surrogate {text[error.start]!r} at {error.start}; "
            "decode it with errors='replace' first."
        ) from None


def _count(data: bytearray, begin: int, end: int) -> int:
    """Number of characters that begin between two bytes."""
    return len(data[begin:end].translate(None, _CONTINUATION))
