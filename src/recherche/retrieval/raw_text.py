"""A text as it was written: characters with lines, of which some stretches are hidden from every search.

What is searched are the UTF-8 bytes of the visible text. Positions that are reported are those of the whole text, with
what is hidden counted.
"""

from bisect import bisect_left
from typing import NamedTuple, final

from typing_extensions import override

from recherche.errors import InputError
from recherche.retrieval.marks import Marks
from recherche.retrieval.searched_bytes import AbstractSearchedBytes, Bytes

_CONTINUATION = bytes(range(0x80, 0xC0))


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
class RawText(AbstractSearchedBytes):
    """The visible bytes of a text, and the places of the whole text for them."""

    __slots__ = ("_breaks", "_characters", "_hidden", "_is_ascii", "n_characters")

    def __init__(self) -> None:
        super().__init__()
        self.n_characters = 0
        self._is_ascii = True
        self._characters = Marks(_count_characters)
        self._breaks = Marks(_count_breaks)
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
        self.share_alphabet_with(twin)
        twin.n_characters, twin._is_ascii, twin._hidden = self.n_characters, self._is_ascii, self._hidden.copy()
        twin._characters, twin._breaks = self._characters.fork(), self._breaks.fork()
        return twin

    @property
    @override
    def settled(self) -> int:
        return len(self.data)

    @override
    def source(self, begin: int, end: int) -> Bytes:
        return begin, end

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
        line = 1 + self._breaks.before(self.data, begin) + before.breaks
        column = first - max(self._line_start(begin), before.line_start) + 1
        return Place((first, past), (begin + before.bytes, past_byte), line, column)

    def _hidden_before(self, at: int) -> _Hidden:
        row = bisect_left(self._hidden, at, key=lambda hidden: hidden.at)
        return self._hidden[row - 1] if row else _NOTHING_HIDDEN

    def _count_characters(self, at: int) -> int:
        """Number of visible characters before byte `at`."""
        return at if self._is_ascii else self._characters.before(self.data, at)

    def _line_start(self, at: int) -> int:
        """The first character, in the whole text, after the last visible line break before byte `at`."""
        found = self.data.rfind(b"\n", *self._breaks.stretch_with_last(self.data, at))
        if found < 0:
            return 0
        return self._count_characters(found + 1) + self._hidden_before(found + 1).characters


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


def _count_characters(data: bytes | bytearray) -> int:
    """Number of characters that begin in a stretch of bytes."""
    return len(data.translate(None, _CONTINUATION))


def _count_breaks(data: bytes | bytearray) -> int:
    return data.count(b"\n")
