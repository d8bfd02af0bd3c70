r"""Escapes and repeat ranges of Python's `re` syntax: what stands after `\` and after `{`.

Reference: Python's regular expression syntax, https://docs.python.org/3/library/re.html
"""

import string
import unicodedata
from typing import NamedTuple

from recherche.retrieval.outcome import RefusedError, Status

_CHARS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_PLACES = {"A": "^", "Z": "$", "b": "b", "B": "B"}
_CATEGORIES = "dDsSwW"
_OCTAL = "01234567"
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}


class Escape(NamedTuple):
    """What an escape stands for; one of the fields is set."""

    char: str | None = None
    category: str | None = None
    place: str | None = None
    group: int | None = None


def read_escape(pattern: str, at: int) -> tuple[Escape, int]:
    r"""The escape whose `\` stands before `at`, and where it ends.

    Raises:
        RefusedError: SYNTAX, there is no such escape.
    """
    letter = pattern[at : at + 1]
    if letter in _CATEGORIES and letter:
        return Escape(category=letter), at + 1
    if letter in _PLACES:
        return Escape(place=_PLACES[letter]), at + 1
    if letter in _CHARS:
        return Escape(char=_CHARS[letter]), at + 1
    if letter == "0":
        end = _span(pattern, at + 1, _OCTAL, 2)
        return Escape(char=chr(int(pattern[at:end], 8))), end
    if letter in string.digits and letter:
        return _read_number(pattern, at)
    return Escape(char=_read_code(pattern, at)), _end_of_code(pattern, at)


def read_class_escape(pattern: str, at: int) -> tuple[Escape, int]:
    r"""The same inside a character class, where `\b` is a backspace and numbers are octal.

    Raises:
        RefusedError: SYNTAX, there is no such escape.
    """
    letter = pattern[at : at + 1]
    if letter in _CATEGORIES and letter:
        return Escape(category=letter), at + 1
    if letter == "b":
        return Escape(char="\b"), at + 1
    if letter in _CHARS:
        return Escape(char=_CHARS[letter]), at + 1
    if letter in _OCTAL and letter:
        end = _span(pattern, at, _OCTAL, 3)
        return Escape(char=_octal(pattern, at, end)), end
    if letter in string.digits and letter:
        raise _bad_escape(pattern, at)
    return Escape(char=_read_code(pattern, at)), _end_of_code(pattern, at)


def read_repeat_range(pattern: str, at: int) -> tuple[int, int | None, int] | None:
    """(least, most, end) of the range whose `{` stands before `at`; None if the `{` is only a character."""
    low_end = _span(pattern, at, string.digits, len(pattern))
    low = high = pattern[at:low_end]
    end = low_end
    if pattern.startswith(",", low_end):
        end = _span(pattern, low_end + 1, string.digits, len(pattern))
        high = pattern[low_end + 1 : end]
    elif not low:
        return None
    if not pattern.startswith("}", end):
        return None
    return int(low or "0"), int(high) if high else None, end + 1


def _read_number(pattern: str, at: int) -> tuple[Escape, int]:
    """Three octal digits are a character, other numbers refer to a group."""
    if _span(pattern, at, _OCTAL, 3) == at + 3:
        return Escape(char=_octal(pattern, at, at + 3)), at + 3
    end = _span(pattern, at, string.digits, 2)
    return Escape(group=int(pattern[at:end])), end


def _octal(pattern: str, at: int, end: int) -> str:
    code = int(pattern[at:end], 8)
    if code > 0o377:
        raise _bad_escape(pattern, at)
    return chr(code)


def _read_code(pattern: str, at: int) -> str:
    r"""The character of `\x41`, `\u0041`, `\U00000041`, `\N{...}`, or of an escaped sign."""
    letter = pattern[at : at + 1]
    end = _end_of_code(pattern, at)
    if letter in _HEX_DIGITS and letter:
        code = int(pattern[at + 1 : end], 16)
        if 0xD800 <= code <= 0xDFFF:
            raise RefusedError(Status.UNSUPPORTED, "A lone surrogate can stand in no text; drop it from the pattern.")
        return chr(code)
    if letter == "N":
        return unicodedata.lookup(pattern[at + 2 : end - 1])
    return letter


def _end_of_code(pattern: str, at: int) -> int:
    letter = pattern[at : at + 1]
    if letter in _HEX_DIGITS and letter:
        count = _HEX_DIGITS[letter]
        end = _span(pattern, at + 1, string.hexdigits, count)
        if end - at - 1 != count or int(pattern[at + 1 : end], 16) > 0x10FFFF:
            raise _bad_escape(pattern, at)
        return end
    if letter == "N":
        end = pattern.find("}", at)
        name = pattern[at + 2 : end] if pattern.startswith("{", at + 1) and end >= 0 else ""
        try:
            if len(unicodedata.lookup(name)) != 1:
                raise _bad_escape(pattern, at)
        except KeyError:
            raise _bad_escape(pattern, at) from None
        return end + 1
    if not letter or letter in string.ascii_letters:
        raise _bad_escape(pattern, at)
    return at + 1


def _span(pattern: str, at: int, alphabet: str, most: int) -> int:
    """Where the run of characters of `alphabet` that begins at `at` ends, after `most` at the latest."""
    end = at
    while end < len(pattern) and end - at < most and pattern[end] in alphabet:
        end += 1
    return end


def _bad_escape(pattern: str, at: int) -> RefusedError:
    shown = pattern[at - 1 : at + 3]
    return RefusedError(Status.SYNTAX, f"The pattern cannot be read: bad escape {shown!r} at position {at - 1}.")
