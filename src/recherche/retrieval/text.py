"""The searched text as UTF-8 bytes, built when a pattern needs it and then only added to.

A token boundary is a byte boundary with a space or the end of the text beside it, so no table of offsets is kept; one
mark for every few hundred tokens is enough to count tokens quickly.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import final

from recherche.retrieval.growing_bytes import GrowingBytes
from recherche.retrieval.index import HIDDEN, TokenIndex
from recherche.retrieval.lexicon import Lexicon

_TOKENS_PER_MARK = 512


@final
class Text(GrowingBytes):
    """Tokens joined by one space; a hidden span is an empty token."""

    __slots__ = ("_marks", "n_tokens")

    def __init__(self) -> None:
        super().__init__()
        self.n_tokens = 0
        self._marks: list[int] = []

    def fork(self) -> "Text":
        """The same text; whichever of the two grows first makes its own copy."""
        twin = Text()
        self.share_with(twin)
        twin.n_tokens, twin._marks = self.n_tokens, self._marks.copy()
        return twin

    def grow(self, index: TokenIndex, lexicon: Lexicon) -> None:
        """Add the tokens that `index` has and the text has not."""
        if self.n_tokens == len(index):
            return
        self.own()
        while self.n_tokens < len(index):
            if self.n_tokens % _TOKENS_PER_MARK == 0:
                self._marks.append(len(self.data) + (self.n_tokens > 0))
            end = min(len(index), len(self._marks) * _TOKENS_PER_MARK)
            self._add(index.tokens(self.n_tokens, end), lexicon.tokens)
            self.n_tokens = end

    def _add(self, ids: Sequence[int], tokens: list[str]) -> None:
        words = ["" if token == HIDDEN else tokens[token] for token in ids]
        self.data += ((" " if self.n_tokens else "") + " ".join(words)).encode()

    def place_of(self, at: int) -> int:
        """The token that holds byte `at`, or the space after which it begins."""
        row = bisect_right(self._marks, at) - 1
        if row < 0:
            return 0
        return row * _TOKENS_PER_MARK + self.data.count(b" ", self._marks[row], at)

    def is_border(self, begin: int, end: int) -> bool:
        """Whether a token begins at byte `begin` and one ends at byte `end`."""
        starts = begin == 0 or self.data[begin - 1] == 0x20
        return starts and (end == len(self.data) or self.data[end] == 0x20)

    def without_spaces(self, begin: int, end: int) -> tuple[int, int]:
        """The same stretch of bytes without the spaces at its ends."""
        stretch = self.data[begin:end]
        left = len(stretch) - len(stretch.lstrip(b" "))
        return begin + left, begin + max(left, len(stretch.rstrip(b" ")))

    def count_words(self, begin: int, end: int) -> int:
        """Number of words between two bytes."""
        return self.data.count(b" ", begin, end) + 1

    def words(self, begin: int, end: int) -> list[str]:
        """The text between two bytes, split at spaces."""
        return self.data[begin:end].decode().split(" ")
