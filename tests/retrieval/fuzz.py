"""Random and hostile patterns, and how many comparisons a differential test makes.

The suite makes a hundred thousand comparisons of each kind; `make fuzz` sets RECHERCHE_FUZZ to a million.
"""

import os
import re
from random import Random

ATOMS = (
    *("a", "b", "1", " ", ".", "ab", "1 ", "{", "-", "é", "−", "^", "$"),
    *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\B", r"\A", r"\Z", r"\x61", r"\141", r"\.", r"\u00e9"),
    *("[ab]", "[^ ]", "[^a1]", "[a-b1]", r"[\d ]", r"[^\w]", r"[^\s\S]", "[é-ü]", r"[\w-]", "[]a]"),
)
REPEATS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{2,}", "{0}", "{1,3}?", "{0,1}", "{,}")
SIGNS = "()[]{}|*+?^$\\ab1 ,-:P<=!d#"
LETTERS = "ab1"
LETTERS_BEYOND_ASCII = "ab1é٣−"
WHITE_LETTERS = "ab1\t\x0b\x1c\u00a0"

TOKEN_FORMS = ("[^ ]+", r"\S+")
SPACE_FORMS = (" ", r"\s", r"\s+")

HOSTILE = {
    "nested plus": r"^(\S+\s*)+!$",
    "digits": r"(\d+)+x",
    "words": r"(\w+\s?)*!1",
    "stars": r"(x*x*x*x*x*x*y)",
    "dots": r"(.*.*.*)=\d",
    "many dots": "(.*a){12}!",
    "nested repeats": "((?:(?:a?){9999}){9999})b",
    "counting": r"^(?:(?:[^ ]+ )*?5 ){40}(?:[^ ]+ )*?(5) [^ ]+ x",
    "alternation": "(" + "|".join(f"a{i}" for i in range(20_000)) + ")",
    "alternation within the length": "(" + "|".join(f"a{i}" for i in range(700)) + ")z",
    "back-references": r"\b(\S+)\b.*\b\1\b.*\b\1\b!",
    "look-ahead": r"(?=.*!)(\S+)",
    "surrogate": "(\ud800)",
    "escaped surrogate": r"(\ud800)",
    "parentheses": "(" * 5000 + ")" * 5000,
    "open parentheses": "(" * 4000,
    "huge repeat": "(a){4294967296}",
    "captures": r"^(?:(\d)| )*(x)",
    "long window": r"(\d.{900}z)",
    "words in a row": r"((?:\S+ ){900}z)",
    "ten groups": "^" + "(.*)" * 10 + "z",
    "empty": "",
    "no group": "a",
    "nul": "(\x00)",
    "unicode class": r"([\w\W]{200}\W\w\D\d)",
    "many optional letters": "(" + "(?:a{1,1000})" * 19 + ")b",
    "many classes": "(" + r"\W" * 2000 + ")",
    "negated nothing": r"([^\s\S])",
}
"""Patterns made to cost time or memory, or to crash a reader."""


def number_of_comparisons(standard: int = 100_000) -> int:
    """How many comparisons a differential test makes."""
    return int(os.environ.get("RECHERCHE_FUZZ", standard))


def random_pattern(random: Random, depth: int = 4) -> str:
    """Any pattern, mostly within what Python reads."""
    if depth <= 0 or random.random() < 0.35:
        return random.choice(ATOMS)
    inner = random_pattern(random, depth - 1)
    kind = random.random()
    if kind < 0.25:
        return inner + random_pattern(random, depth - 1)
    if kind < 0.5:
        return random.choice(("(", "(?:", "(?P<n>")) + inner + ")"
    if kind < 0.7:
        return random.choice(("(", "(?:")) + inner + "|" + random_pattern(random, depth - 1) + ")"
    repeat = random.choice(REPEATS)
    return random.choice((inner + repeat, f"({inner}){repeat}", f"(?:{inner}){repeat}"))


def mutated(random: Random, pattern: str) -> str:
    """The pattern with one or two signs put in or taken out."""
    signs = list(pattern)
    for _ in range(random.randint(1, 2)):
        place = random.randrange(len(signs) + 1)
        if random.random() < 0.5 or not signs:
            signs.insert(place, random.choice(SIGNS))
        else:
            del signs[min(place, len(signs) - 1)]
    return "".join(signs)


def random_text(random: Random, letters: str) -> str:
    """A few short words; sometimes two spaces between them, as around a hidden span."""
    words = ["".join(random.choices(letters, k=random.randint(1, 3))) for _ in range(random.randint(1, 6))]
    return random.choice((" ", " ", " ", "  ")).join(words)


def token_pattern(random: Random, names: tuple[str, ...]) -> str:
    """A pattern over whole tokens: a head, elements, perhaps a gap, and a tail."""
    token, space = random.choice(TOKEN_FORMS), random.choice(SPACE_FORMS)
    border = r"\s" if random.random() < 0.2 else " "
    up_to = f"^(?:{token}{border}){{{random.randint(0, 3)}}}"
    head = random.choice(("^", f"(?:^|{border})", f"(?:^|{border})", f"(?:{border}|^)", border, "^(?:.* )?", up_to, ""))
    group = _Groups(random)
    body = space.join(_element(random, names, token, group) for _ in range(random.randint(1, 4)))
    if random.random() < 0.3:
        edge = f"{group(token)} ~ {re.escape(random.choice(names))}|{re.escape(random.choice(names))} ~ {group(token)}"
        body = f"{body}{space}(?:{edge})" if random.random() < 0.5 else f"(?:{edge})"
    if random.random() < 0.25:
        gap = random.choice(("(?:.*? )??", f"(?:{token} )*?"))
        body = f"{body} {gap}{space.join(_element(random, names, token, group) for _ in range(2))}"
    follow = f"(?:{border}{token}){{{random.randint(0, 3)}}}"
    tail = random.choice(("", border, f"{border}[^ ]", rf"{border}\S", follow, f"(?:{border}|$)", "$", r"\Z"))
    return random.choice(("", "(?s)")) + head + body + tail


class _Groups:
    """Puts parentheses around about half of what it is given, always around the first."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._any = False

    def __call__(self, inner: str) -> str:
        if self._any and self._random.random() < 0.5:
            return inner
        self._any = True
        return f"({inner})"


def _element(random: Random, names: tuple[str, ...], token: str, group: _Groups) -> str:
    kind = random.random()
    if kind < 0.5:
        return re.escape(random.choice(names))
    if kind < 0.6:
        return random.choice(("~", "=", "-"))
    return group(token if kind < 0.9 else re.escape(random.choice(names)))
