import re

import pytest

from recherche.retrieval.charset import code_ranges, complement
from recherche.retrieval.limits import Limits
from recherche.retrieval.pattern import read_pattern
from recherche.retrieval.syntax import Chars, Sequence

CHARACTERS = [chr(code) for code in range(0x250)] + list("٣−∼\u2003\u3000ⅷ界")
CLASSES = [r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"[^\w]", r"[\d\s]", r"[^\D]", r"[a-z\d_]", r"[^\s\S]", "[^a-y]"]


@pytest.mark.parametrize("pattern", CLASSES)
def test_a_class_holds_the_characters_that_python_says(pattern: str):
    root = read_pattern(pattern, Limits()).root
    assert isinstance(root, Sequence)
    [node] = root.items
    assert isinstance(node, Chars)
    ranges = code_ranges(node, CHARACTERS)
    held = [c for c in CHARACTERS if any(low <= ord(c) <= high for low, high in ranges)]
    assert held == [c for c in CHARACTERS if re.fullmatch(pattern, c)]


def test_ranges_are_sorted_and_apart():
    ranges = code_ranges(Chars(((98, 99), (97, 97), (120, 122), (98, 121))), "")
    assert ranges == [(97, 122)]


def test_complement_of_a_complement_is_the_set():
    for ranges in ([], [(0, 5)], [(3, 9), (20, 0x10FFFF)]):
        assert complement(complement(ranges)) == ranges
