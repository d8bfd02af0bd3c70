import re

from recherche.retrieval.ignore_case import same_but_for_case

CASED = [c for c in map(chr, range(0x110000)) if c.lower() != c or c.upper() != c]


def test_characters_are_the_same_where_python_says_so():
    every = "".join(CASED)
    asked = [*CASED[:600], *CASED[600::20], "ſ", "K", "ẞ", "ᾳ", "ﬅ", "\u0345"]
    assert [c for c in asked if set(re.findall(f"(?i){c}", every)) != same_but_for_case(c)] == []


def test_what_has_no_case_is_only_the_same_as_itself():
    for character in ("1", "_", "世", "\n", "\U0010ffff"):
        assert same_but_for_case(character) == {character}


def test_lower_case_alone_would_not_do():
    assert "s" not in {c for c in CASED if c.lower() == "ſ"}
    assert "s" in same_but_for_case("ſ")
