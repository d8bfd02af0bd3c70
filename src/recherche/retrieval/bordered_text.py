r"""A text in which RE2's `\b` is Python's, for texts with letters beyond ASCII.

RE2 knows the word characters of ASCII only. So a word character beyond ASCII gets a `_` on either side, which is a word
character of ASCII, and `_` itself becomes `_X_`, with an X that the text does not hold:

    né_e   ->   n_é__X_e

A sign that may match é is spelled `_é_`, so that a match cannot begin inside of such a sign unless it is empty there;
such matches are passed over.
"""

import functools
from collections.abc import Callable
from typing import final

import numpy as np
from jaxtyping import Bool
from typing_extensions import override

from recherche.retrieval.marks import Marks
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.searched_bytes import AbstractSearchedBytes, Bytes

_AT_ONCE = 1 << 20
_UNDERSCORE = ord("_")
_STAND_INS = [*range(1, 9), *range(14, 32), 127]


@final
class BorderedText(AbstractSearchedBytes):
    """The bytes of a text with its borders; `stand_in` is the code of what stands for `_`."""

    __slots__ = ("_form", "_marks", "_settled", "_settled_form", "stand_in")

    def __init__(self, form: AbstractSearchedBytes) -> None:
        super().__init__()
        self.stand_in = _STAND_INS[0]
        self._form = form
        self._settled = self._settled_form = 0
        self._marks = Marks(_count_underscores)

    @property
    @override
    def settled(self) -> int:
        return self._settled

    @override
    def source(self, begin: int, end: int) -> Bytes:
        return self._form.source(*(at - self._marks.before(self.data, at) for at in (begin, end)))

    def grow(self) -> None:
        """Add what the text has gained.

        Raises:
            RefusedError: UNSUPPORTED, the text holds everything that could stand for `_`.
        """
        data, alphabet = self._form.data, self._form.alphabet()
        if data.find(self.stand_in, self._settled_form) >= 0:
            free = [code for code in _STAND_INS if code not in data]
            if not free:
                raise RefusedError(Status.UNSUPPORTED, r"\b in a text with all control characters; name the borders.")
            self.stand_in = free[0]
            self._start_anew()
        if self._settled_form == len(data):
            return
        self.own()
        del self.data[self._settled :]
        self._marks.forget(self._settled)
        words = np.zeros(1 + max(map(ord, alphabet.words), default=0), np.bool_)
        words[[ord(character) for character in alphabet.words]] = True
        self._add(data[self._settled_form : self._form.settled].decode(), words)
        self._settled, self._settled_form = len(self.data), self._form.settled
        self._add(data[self._settled_form :].decode(), words)

    def inside(self) -> Callable[[int], bool]:
        """A test whether a byte is not between two characters; it goes on to hold while the text grows."""
        return functools.partial(_is_inside, self.data, self._marks)

    @override
    def share(self) -> None:
        super().share()
        # The search that still runs makes marks of its own.
        self._marks = self._marks.fork()

    def _start_anew(self) -> None:
        self.data, self._is_shared = bytearray(), False
        self._settled = self._settled_form = 0
        self._marks = Marks(_count_underscores)

    def _add(self, text: str, words: Bool[np.ndarray, " codes"]) -> None:
        for begin in range(0, len(text), _AT_ONCE):
            self.append(self._bordered(text[begin : begin + _AT_ONCE], words))

    def _bordered(self, text: str, words: Bool[np.ndarray, " codes"]) -> bytes:
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        is_underscore = codes == _UNDERSCORE
        is_bordered = is_underscore | ((codes < len(words)) & words[np.minimum(codes, len(words) - 1)])
        sizes = 1 + 2 * is_bordered
        bordered = np.repeat(codes, sizes)
        ends = np.cumsum(sizes) - 1
        bordered[ends[is_bordered]] = bordered[ends[is_bordered] - 2] = _UNDERSCORE
        bordered[ends[is_underscore] - 1] = self.stand_in
        return bordered.tobytes().decode("utf-32-le").encode()


def _count_underscores(data: bytes | bytearray) -> int:
    return data.count(b"_")


def _is_inside(data: bytearray, marks: Marks, at: int) -> bool:
    is_part = at < len(data) and data[at] & 0xC0 == 0x80
    return is_part or marks.before(data, at) % 2 == 1
