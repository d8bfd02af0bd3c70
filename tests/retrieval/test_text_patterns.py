import dataclasses
import threading
from random import Random

import pytest

from recherche.retrieval import TEXT_LIMITS, Retriever, Status
from recherche.retrieval.bordered_text import BorderedText
from recherche.retrieval.limits import Limits
from recherche.retrieval.outcome import RefusedError
from recherche.retrieval.raw_text import RawText
from recherche.retrieval.text_patterns import compile_for, literal_of, read_text_pattern
from tests.retrieval import fuzz, text_fuzz

TEXTS_PER_PATTERN = 10
NOT_COMPARED = (Status.SYNTAX, Status.UNSUPPORTED, Status.TOO_LARGE)


def differences(random: Random, wanted: int) -> tuple[int, list[tuple[str, str]]]:
    """(number of comparisons, pattern and text of those where a search, or a place, is not what `re` says)."""
    compared, parted, retriever = 0, [], Retriever()
    while compared < wanted:
        pattern = text_fuzz.random_pattern(random)
        python = text_fuzz.compiled(pattern)
        for _ in range(TEXTS_PER_PATTERN):
            text = text_fuzz.random_text(random)
            context = retriever.text(text)
            found = context.search(pattern)
            if found.status in NOT_COMPARED:
                if found.status is Status.SYNTAX and python is not None:
                    parted.append((pattern, text))
                continue
            compared += 1
            if python is None:
                parted.append((pattern, text))
                continue
            every = [text_fuzz.shown(one) for one in context.search_all(pattern)]
            is_right = text_fuzz.shown(found) == text_fuzz.wanted(python, text)
            is_right = is_right and every == list(text_fuzz.all_wanted(python, text))
            if not is_right or any(want != got for want, got in text_fuzz.places(text, found)):
                parted.append((pattern, text))
    return compared, parted


def test_a_text_is_searched_as_re_does_on_a_sample():
    assert differences(Random(1), 500)[1] == []


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked_types")
def test_a_text_is_searched_as_re_does():
    compared, parted = differences(Random(2), fuzz.number_of_comparisons(20_000))
    assert parted == []
    assert compared >= fuzz.number_of_comparisons(20_000)


def test_the_comparison_can_see_a_difference():
    python = text_fuzz.compiled("(?m)a$")
    assert python is not None
    assert text_fuzz.shown(Retriever().text("a\nb").search("a$")) != text_fuzz.wanted(python, "a\nb")


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        ("abc", "abc"),
        (r"(?m)a\.b", "a.b"),
        ("(?i)abc", None),
        ("(abc)", None),
        ("ab*", None),
        ("", None),
        ("a|b", None),
    ],
)
def test_a_pattern_of_nothing_but_characters_is_known(pattern: str, literal: str | None):
    assert literal_of(read_text_pattern(pattern, TEXT_LIMITS)) == literal


def first(pattern: str, text: str, limits: Limits = TEXT_LIMITS):
    raw = RawText()
    raw.extend(text)
    return compile_for(raw, BorderedText(raw), read_text_pattern(pattern, limits), limits=limits).first(limits)


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        (r"(a$)", "a\n", ((0, 1), (0, 1))),
        (r"(a\n?$)", "a\n", ((0, 2), (0, 2))),
        (r"a(?:$|x)", "ax\na\n", ((0, 2),)),
        (r"$", "a\n", ((1, 1),)),
        (r"a\Z", "a\n", None),
        (r"(?m)^$", "a\n", ((2, 2),)),
        (r"b$", "b\n\n", None),
    ],
)
def test_a_dollar_may_stand_before_the_last_line_break(pattern: str, text: str, spans):
    assert first(pattern, text) == spans


@pytest.mark.parametrize("pattern", [r"a$\s*", "(?:a$)?b", "$|a$b"])
def test_a_dollar_within_a_pattern_is_refused_where_it_matters(pattern: str):
    first(pattern, "a")
    with pytest.raises(RefusedError, match=r"write \\Z for the very end of the text, or begin with \(\?m\)") as refusal:
        first(pattern, "a\n")
    assert refusal.value.status is Status.UNSUPPORTED


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        (r"\bé\b", "né é", ((4, 6),)),
        (r"\B.", "éa_世", ((2, 3),)),
        (r"_\b", "__é_ ", ((4, 5),)),
        (r"\b\w+\b", "−naïve_−", ((3, 10),)),
        (r"\b", "−é", ((3, 3),)),
    ],
)
def test_word_borders_are_those_of_all_letters(pattern: str, text: str, spans):
    assert first(pattern, text) == spans


def test_no_border_in_nothing_is_refused_because_versions_differ():
    with pytest.raises(RefusedError, match=r"\\B in an empty text differs between versions"):
        first(r"\B", "")


def test_a_search_that_is_late_leaves_the_text_free_to_grow():
    limits = dataclasses.replace(TEXT_LIMITS, deadline_ms=1)
    context = Retriever(limits=limits).text("né " + "ab" * 2_000_000)
    found = context.search(r"\b(?:.*b){30}z")
    assert found.status in (Status.TIMEOUT, Status.NO_MATCH)
    context.extend("z é")
    assert context.text.endswith("z é")
    assert threading.active_count() >= 1


@pytest.mark.parametrize("pattern", fuzz.HOSTILE.values(), ids=fuzz.HOSTILE)
def test_a_hostile_pattern_ends_in_a_named_outcome(pattern: str):
    limits = dataclasses.replace(TEXT_LIMITS, deadline_ms=200)
    words = Random(0).choices(["5", "a", "=", "12", "é", "x\n", "xxxxxxxx", "aaaaaaaa", "b1 !"], k=20_000)
    context = Retriever(limits=limits).text(" ".join(words))
    found = context.search(pattern)
    assert (found.text is not None) is (found.status is Status.OK)
    assert found.status is not Status.NO_START
