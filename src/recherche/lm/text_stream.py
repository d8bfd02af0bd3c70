"""Tokens in, text out, as they come: a character is told when its last byte is there.

Bytes that never become a character are shown as U+FFFD by the rule of the Unicode standard, one for each longest part
that could have begun a character. A control token ends a character that was begun.

Reference: The Unicode Standard, Section 3.9, U+FFFD Substitution of Maximal Subparts, https://www.unicode.org/versions/latest/
"""

import codecs
from typing import final

from recherche.lm.token_bytes import TokenBytes

_Decoder = codecs.getincrementaldecoder("utf-8")


@final
class TextStream:
    """Decodes one text token by token, at a cost that does not grow with the text.

    Args:
        table: what each token adds.
        lead: bytes that are left out if the first ordinary token begins with them.
    """

    def __init__(self, table: TokenBytes, lead: bytes = b"") -> None:
        self._ordinary, self._control = table.ordinary, table.control
        self._lead = lead
        self._decoder = _Decoder("replace")

    def push(self, token: int) -> str:
        """The characters that this token completes; bytes of a cut character are held back."""
        data = self._ordinary.get(token)
        if data is None:
            name = self._control.get(token)
            return "" if name is None else self._decoder.decode(b"", True) + name
        if self._lead:
            data, self._lead = data.removeprefix(self._lead), b""
        return self._decoder.decode(data)

    def flush(self) -> str:
        """What was held back, as U+FFFD; the text has ended."""
        return self._decoder.decode(b"", True)
