"""Random texts with lines, patterns for them, and what Python's `re` finds: the slow truth about the text mode."""

import re
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

from recherche.retrieval import Passage, Status
from tests.retrieval import fuzz

ATOMS = (
    *("a", "b", "1", " ", ".", "ab", "1 ", "-", "é", "k", "K", "ß", "ſ", "_", r"\n", "\n", "^", "$", "İ", "\u0301"),
    *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\B", r"\A", r"\Z", r"\x61", r"\.", r"\u00e9", r"\r"),
    *("[ab]", "[^ ]", "[^a1]", "[a-k1]", r"[\d ]", r"[^\w]", r"[^\s\S]", "[é-ü]", r"[\w-]", r"[^\n]", "[A-Z]", "[ſ-ʒ]"),
    *(r"\w+", r"\s+", ".*", r"\S+", "$", "^", "(?:^|,)", "(?:$|,)", r"\b", ".+?"),
)
FLAGS = ("", "", "(?m)", "(?i)", "(?s)", "(?im)", "(?ms)", "(?i)(?m)", "(?ims)")
ALPHABETS = (
    "ab1 \n",
    "abAB1_,- \n\n",
    "aébßK1 _\n",
    "kK\u212asSſiIıİ \n",
    "a٣1 \u00a0\x0b\r\n",
    "世a\u0301e b\n",
    "−a–1\n",
)


def random_pattern(random: Random) -> str:
    """A pattern with leading flags, with or without groups."""
    body = _body(random, 4)
    if random.random() < 0.1:
        body = fuzz.mutated(random, body)
    return random.choice(FLAGS) + body


def _body(random: Random, depth: int) -> str:
    if depth <= 0 or random.random() < 0.35:
        return random.choice(ATOMS)
    inner, kind = _body(random, depth - 1), random.random()
    if kind < 0.35:
        return inner + _body(random, depth - 1)
    if kind < 0.55:
        return random.choice(("(", "(?:", "(?:")) + inner + ")"
    if kind < 0.7:
        return random.choice(("(", "(?:")) + inner + "|" + _body(random, depth - 1) + ")"
    repeat = random.choice(fuzz.REPEATS)
    return random.choice((inner + repeat, f"({inner}){repeat}", f"(?:{inner}){repeat}"))


def random_text(random: Random) -> str:
    """A few short lines over a small alphabet, some with letters beyond ASCII; often with a line break at the end."""
    text = "".join(random.choices(random.choice(ALPHABETS), k=random.randint(0, 14)))
    return text + random.choice(("", "", "\n"))


def wanted(pattern: re.Pattern[str], text: str, at: int = 0) -> tuple[Status, str | None, tuple[int, int] | None]:
    """(status, text, span) of the first match at or after a place, by `re`."""
    match = pattern.search(text, at)
    if match is None:
        return Status.NO_MATCH, None, None
    spans = match.regs[1:] or match.regs
    span = next((span for span in spans if span != (-1, -1)), None)
    if span is None:
        return Status.UNSET_GROUP, None, None
    if span[0] == span[1]:
        return Status.EMPTY_RESULT, None, span
    return Status.OK, text[slice(*span)], span


def all_wanted(pattern: re.Pattern[str], text: str) -> Iterator[tuple[Status, str | None, tuple[int, int] | None]]:
    """What `search_all` finds, by `re`: after an empty match it goes on one character later."""
    at, is_any = 0, False
    while at <= len(text) and (match := pattern.search(text, at)):
        is_any = True
        yield wanted(pattern, text, at)
        at = match.end() + (match.end() == match.start())
    if not is_any:
        yield Status.NO_MATCH, None, None


def compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern in `re`; None if it refuses or warns."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return re.compile(pattern)
    except (re.error, Warning):
        return None


def shown(found: Passage) -> tuple[Status, str | None, tuple[int, int] | None]:
    """The part of an outcome that is compared."""
    return found.status, found.text, found.span


def places(text: str, found: Passage) -> list[tuple[Any, Any]]:
    """(wanted, got) of the byte span, line and column that go with a span."""
    if found.span is None:
        return []
    begin, end = found.span
    before = text[:begin]
    return [
        ((len(before.encode()), len(text[:end].encode())), found.byte_span),
        (1 + before.count("\n"), found.line),
        (begin - before.rfind("\n"), found.column),
    ]
