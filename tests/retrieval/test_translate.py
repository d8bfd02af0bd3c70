import re
from random import Random

import pytest

from recherche.retrieval import Limits, Status
from recherche.retrieval.engine import compile_program
from recherche.retrieval.outcome import RefusedError
from recherche.retrieval.pattern import read_pattern
from recherche.retrieval.translate import translate
from tests.retrieval import fuzz

LIMITS = Limits()
TEXTS_PER_PATTERN = 20


def spans_by_re2(translated: str, text: str) -> tuple | None:
    return compile_program(translated, LIMITS.memory_bytes).match(bytearray(text.encode()))


def spans_by_re(pattern: str, text: str) -> tuple | None:
    """The spans of the match and of all groups, in bytes."""
    found = re.search(pattern, text)
    return found and tuple(
        (-1, -1) if begin < 0 else (len(text[:begin].encode()), len(text[:end].encode())) for begin, end in found.regs
    )


def differences(random: Random, letters: str, wanted: int) -> tuple[int, list[tuple[str, str]]]:
    """(number of comparisons, those where the translated pattern in RE2 and the pattern in `re` part)."""
    compared, parted = 0, []
    while compared < wanted:
        pattern = fuzz.random_pattern(random)
        if random.random() < 0.2:
            pattern = fuzz.mutated(random, pattern)
        try:
            translated = translate(read_pattern(pattern, LIMITS), letters, LIMITS)
        except RefusedError:
            continue
        for _ in range(TEXTS_PER_PATTERN):
            text = fuzz.random_text(random, letters)
            if spans_by_re2(translated, text) != spans_by_re(pattern, text):
                parted.append((pattern, text))
            compared += 1
    return compared, parted


@pytest.mark.parametrize("letters", [fuzz.LETTERS, fuzz.LETTERS_BEYOND_ASCII, fuzz.WHITE_LETTERS])
def test_translated_pattern_finds_what_re_finds_on_a_sample(letters: str):
    assert differences(Random(1), letters, 1_000)[1] == []


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(
    ("letters", "share"),
    [(fuzz.LETTERS, 0.6), (fuzz.LETTERS_BEYOND_ASCII, 0.2), (fuzz.WHITE_LETTERS, 0.2)],
    ids=["ascii", "beyond ascii", "white space"],
)
def test_translated_pattern_finds_what_re_finds(letters: str, share: float):
    compared, parted = differences(Random(2), letters, int(share * fuzz.number_of_comparisons()))
    assert parted == []
    assert compared >= share * fuzz.number_of_comparisons()


def test_the_comparison_can_see_a_difference():
    assert spans_by_re2("(a|ab)$", "ab a") != spans_by_re("(a)", "ab a")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"a(\s)b", "a\x0bb"),
        (r"a(\s)b", "a\u00a0b"),
        (r"(\d)", "x٣"),
        (r"(\w)x", "éx"),
        ("(a{,2})b", "aab"),
        ("(x{)", "x{"),
        (r"(\B.)", "ab"),
        (r"(1)(?: |\Z)", "0 12 1"),
        (r"\x41([\101])", "AA"),
        (r"(?P<n>a)(?:(b)|c)+", "abc"),
        ("(?:(a)|b){2}", "ab"),
        ("(a*)?(b)", "b"),
    ],
)
def test_signs_that_engines_read_differently_mean_what_they_mean_in_python(pattern: str, text: str):
    assert spans_by_re2(translate(read_pattern(pattern, LIMITS), text, LIMITS), text) == spans_by_re(pattern, text)


@pytest.mark.parametrize("low", [999, 1000, 1001, 2000, 2001, 2502])
@pytest.mark.parametrize("form", ["(?:a ){%d}(b)", "(a ){%d}(b)", "(?:a ){%d,}(b)", "(a ){%d,}?(b)", "(?:a ){2,%d}(b)"])
def test_repeats_beyond_a_thousand(form: str, low: int):
    pattern = "^" + form % low
    translated = translate(read_pattern(pattern, LIMITS), "ab ", LIMITS)
    for count in (low - 1, low, low + 1):
        text = "a " * count + "b"
        assert spans_by_re2(translated, text) == spans_by_re(pattern, text)


@pytest.mark.parametrize("pattern", ["(?:(?:a{100}){11})(b)", "(?:(?:a{40}b?){30}){2}(b)", "((?:a{30}){30}){2}"])
def test_nested_repeats_multiply(pattern: str):
    text = "a" * 2400 + "b"
    assert spans_by_re2(translate(read_pattern(pattern, LIMITS), "ab", LIMITS), text) == spans_by_re(pattern, text)


REFUSED = {
    "group of an optional part": ("(?:(a)|b){1500}", "ab", Status.UNSUPPORTED, "A group inside a repeat beyond 1,000"),
    "group and a wide range": ("(a){1,1500}", "a", Status.UNSUPPORTED, "put the group after the repeat"),
    "word border beside é": (r"(a)\b", "é", Status.UNSUPPORTED, r"\\b in a text with letters or digits beyond ASCII"),
    "no border beside a sign": (r"(a)\B", "−", Status.UNSUPPORTED, r"\\B in a text beyond ASCII"),
    "many signs": ("(?:(?:a{100}){100}){100}(b)", "ab", Status.TOO_LARGE, r"20000 signs .*\(Limits.tree_size\), got"),
}


@pytest.mark.parametrize(("pattern", "letters", "status", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_translated_is_refused_by_name(pattern: str, letters: str, status: Status, message: str):
    with pytest.raises(RefusedError, match=message) as refusal:
        translate(read_pattern(pattern, LIMITS), letters, LIMITS)
    assert refusal.value.status is status


def test_word_border_is_allowed_beside_signs_beyond_ascii():
    text = "1 − 12"
    assert spans_by_re2(translate(read_pattern(r"(\b12\b)", LIMITS), text, LIMITS), text) == spans_by_re(
        r"(\b12\b)", text
    )
