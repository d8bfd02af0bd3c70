import re

import pytest

from recherche.retrieval.alphabet import Alphabet
from recherche.retrieval.limits import TEXT_LIMITS
from recherche.retrieval.pattern import TEXT_FLAGS, read_pattern
from recherche.retrieval.syntax import Sequence
from recherche.retrieval.text_signs import TextSigns, needs_borders, signs_for

BEYOND = Alphabet("éÉßſ\u212a−٣\u00a0世ıİ")
CLASSES = [
    r"\w",
    r"\W",
    r"\d",
    r"\s",
    r"\S",
    "[^a]",
    "[a-k]",
    "[à-ÿ]",
    "k",
    "S",
    "é",
    r"[^\w]",
    r"[^\s\S]",
    "_",
    "[^_]",
    ".",
]


def node(pattern: str):
    root = read_pattern(pattern, TEXT_LIMITS, flags=TEXT_FLAGS).root
    assert isinstance(root, Sequence)
    return root.items[0]


def matched(spelled: str) -> set[str]:
    """The characters, of ASCII and the alphabet, that a spelling without borders matches."""
    return {c for c in [*map(chr, range(128)), *BEYOND.beyond] if re.fullmatch(as_python(spelled), c)}


def as_python(spelled: str) -> str:
    return re.sub(r"\\x\{([0-9A-F]+)\}", lambda code: rf"\U{int(code[1], 16):08x}", spelled)


@pytest.mark.parametrize("flags", ["", "i", "s", "is"])
@pytest.mark.parametrize("pattern", CLASSES)
def test_a_sign_holds_the_characters_that_python_says(pattern: str, flags: str):
    spelled = TextSigns(BEYOND, flags, None).spell(node(pattern))
    leading = f"(?{flags})" if flags else ""
    python = {c for c in [*map(chr, range(128)), *BEYOND.beyond] if re.fullmatch(leading + pattern, c)}
    assert {c for c in matched(f"(?s:{spelled})")} == python


@pytest.mark.parametrize("flags", ["", "i", "s"])
@pytest.mark.parametrize("pattern", CLASSES)
def test_with_borders_a_sign_holds_the_same_characters(pattern: str, flags: str):
    signs = TextSigns(BEYOND, flags, 1)
    spelled = as_python(f"(?s:{signs.spell(node(pattern))})")
    leading = f"(?{flags})" if flags else ""
    for character in [*map(chr, range(128)), *BEYOND.beyond]:
        if character == "\x01":
            continue  # stands for `_`, so the text does not hold it
        bordered = "_\x01_" if character == "_" else f"_{character}_" if character in BEYOND.words else character
        assert bool(re.fullmatch(spelled, bordered)) is bool(re.fullmatch(leading + pattern, character))
        assert not re.fullmatch(spelled, bordered[1:]) or len(bordered) == 1


def test_runs_go_over_characters_that_do_not_occur():
    assert TextSigns(Alphabet("éü−"), "", None).spell(node(r"\w")) == r"[0-9A-Z_a-z\x{E9}-\x{FC}]"
    assert TextSigns(Alphabet("éü−ö\u00f7"), "", None).spell(node(r"\w")) == r"[0-9A-Z_a-z\x{E9}-\x{F6}\x{FC}]"


@pytest.mark.parametrize(
    ("flags", "places"),
    [("", [r"\A", r"\z", r"\A", r"\z", r"\b"]), ("m", ["(?m:^)", "(?m:$)", r"\A", r"\z", r"\b"])],
)
def test_places_mean_what_they_mean_in_python(flags: str, places: list[str]):
    signs = TextSigns(BEYOND, flags, None)
    assert [signs.place(kind) for kind in ("^", "$", "A", "Z", "b")] == places


@pytest.mark.parametrize(
    ("pattern", "alphabet", "needed"),
    [(r"\ba", "é", True), (r"\ba", "−", False), (r"\Ba", "−", True), (r"\Ba", "", False), ("a", "é", False)],
)
def test_borders_are_needed_beside_letters_beyond_ascii(pattern: str, alphabet: str, needed: bool):
    assert needs_borders(read_pattern(pattern, TEXT_LIMITS).root, Alphabet(alphabet)) is needed


def test_spellings_are_kept_but_not_without_end(monkeypatch: pytest.MonkeyPatch):
    assert signs_for(BEYOND, "i", None) is signs_for(BEYOND, "i", None)
    monkeypatch.setattr("recherche.retrieval.text_signs._SPELLINGS_KEPT", 3)
    signs = TextSigns(BEYOND, "", None)
    for code in range(0x4E00, 0x4E10):
        signs.n_ranges(node(f"[{chr(code)}b]"))
        assert len(signs._spelled) <= 3
