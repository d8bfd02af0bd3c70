r"""Character classes as code ranges, with the meaning they have in Python.

`\d`, `\s` and `\w` cover hundreds of ranges in Python and only ASCII in RE2. A text holds few characters, so a class is
spelled out over those: the ASCII part in full, and of the rest only what the text can hold.
"""

from collections.abc import Collection

from recherche.retrieval.syntax import Chars, CodeRange

LAST_CODE = 0x10FFFF


def is_word(character: str) -> bool:
    r"""Whether `\w` matches the character."""
    return character.isalnum() or character == "_"


_TESTS = {"d": str.isdecimal, "s": str.isspace, "w": is_word}
_BEYOND_ASCII = {"d": str.isdecimal, "s": str.isspace, "w": str.isalnum}
_ASCII = {letter: [(code, code) for code in range(128) if test(chr(code))] for letter, test in _TESTS.items()}


def code_ranges(node: Chars, characters: Collection[str]) -> list[CodeRange]:
    """Sorted disjoint code ranges that mean the same as `node` on texts of ASCII and `characters`."""
    ranges = list(node.ranges)
    for letter in node.categories:
        ranges += _category(letter, characters)
    merged = _merge(ranges)
    return complement(merged) if node.negated else merged


def complement(ranges: list[CodeRange]) -> list[CodeRange]:
    """All codes that are not in sorted disjoint ranges.

    >>> complement([(32, 32)])
    [(0, 31), (33, 1114111)]
    """
    gaps, code = [], 0
    for low, high in ranges:
        if low > code:
            gaps.append((code, low - 1))
        code = high + 1
    if code <= LAST_CODE:
        gaps.append((code, LAST_CODE))
    return gaps


def _category(letter: str, characters: Collection[str]) -> list[CodeRange]:
    test = _BEYOND_ASCII[letter.lower()]
    codes = [(ord(c), ord(c)) for c in characters if c > "\x7f" and test(c)]
    ranges = _merge(_ASCII[letter.lower()] + codes)
    return complement(ranges) if letter.isupper() else ranges


def _merge(ranges: list[CodeRange]) -> list[CodeRange]:
    merged: list[CodeRange] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged
