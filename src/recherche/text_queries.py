"""What can be asked of a natural text, and how a model writes it: one frozen value per kind of question.

    after KEY                what follows KEY on its line
    word after KEY           the next word
    line with KEY            the line that holds KEY
    sentence with KEY        the sentence that holds KEY
    between BEGIN ... END    what stands between BEGIN and the next END
    pattern RE               the group of a regular expression

`#3` before a question asks about the third match, `last` about the last one: `last line with Ada Berg`. Whatever begins
with none of these words is itself a pattern. A key is found where it stands as a whole: if it begins or ends with a
letter, a digit or `_`, no such character may stand directly beside it.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

import re
from dataclasses import dataclass
from typing import Literal, final

from recherche.errors import QueryError

Which = int | Literal["last"]
"""The k-th match from the start, k >= 1, or the last one."""

GAP = " ... "
"""Stands between the two keys of `between`."""

_HEADS = ("word after", "after", "line with", "sentence with", "between")
_QUESTION = re.compile(rf"(?:(last|#[1-9][0-9]{{0,8}}) )?({'|'.join(_HEADS)}) (.*)", re.DOTALL)


def _require_key(what: str, key: str) -> None:
    if not key or key != key.strip():
        raise QueryError(
            f"{what} looks for a text that begins and ends with something to see, got {key!r}; "
            "leave out the white space at its ends, or ask by a pattern."
        )


def _require_which(what: str, which: Which) -> None:
    if which != "last" and not (isinstance(which, int) and 1 <= which < 10**9):
        raise QueryError(f"{what} counts matches from 1, or takes the 'last', got {which!r}; use 1 for the first.")


@dataclass(frozen=True, slots=True)
class _AboutKey:
    """A question about the place where a key stands."""

    key: str
    which: Which = 1

    def __post_init__(self) -> None:
        _require_key(type(self).__name__, self.key)
        _require_which(type(self).__name__, self.which)


@final
@dataclass(frozen=True, slots=True)
class After(_AboutKey):
    """What follows the key on its line, white space at both ends left out."""


@final
@dataclass(frozen=True, slots=True)
class Word(_AboutKey):
    """The next word after the key, a run of anything but white space, on its line or a later one."""


@final
@dataclass(frozen=True, slots=True)
class Line(_AboutKey):
    """The line that holds the key, without its line break."""


@final
@dataclass(frozen=True, slots=True)
class Sentence(_AboutKey):
    """The sentence that holds the key: up to `.`, `!` or `?` before white space, or to a blank line."""


@final
@dataclass(frozen=True, slots=True)
class Between:
    """What stands between a key and the next end key, white space at both ends left out."""

    begin: str
    end: str
    which: Which = 1

    def __post_init__(self) -> None:
        for key in (self.begin, self.end):
            _require_key("Between", key)
        if GAP in f"{self.begin} " or self.begin.startswith("... "):
            raise QueryError(
                f"Between is written BEGIN{GAP}END, so BEGIN cannot hold that sign itself, got {self.begin!r}; "
                "choose a shorter key, or ask by a pattern."
            )
        _require_which("Between", self.which)


@final
@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression in Python's `re` syntax over the characters of the text; its group is the answer."""

    pattern: str

    def __post_init__(self) -> None:
        if not self.pattern.strip():
            raise QueryError("A pattern needs something to look for, got nothing; write a regular expression.")
        if self.pattern != self.pattern.strip():
            raise QueryError(
                f"White space at the ends of a written query is dropped, so {self.pattern!r} cannot be asked; "
                "write it as [ ] or \\s."
            )


TextQuery = After | Word | Line | Sentence | Between | Pattern

_KINDS: dict[str, type[After] | type[Word] | type[Line] | type[Sentence]] = {
    "after": After,
    "word after": Word,
    "line with": Line,
    "sentence with": Sentence,
}
_HEAD_OF = {kind: head for head, kind in _KINDS.items()}


def write(query: TextQuery) -> str:
    """The query as a model writes it.

    >>> write(After("Ada Berg:"))
    'after Ada Berg:'
    >>> write(Between("from", "to", which="last"))
    'last between from ... to'
    """
    match query:
        case Pattern(pattern):
            return f"pattern {pattern}"
        case Between(begin, end, which):
            return f"{_prefix(which)}between {begin}{GAP}{end}"
        case _:
            return f"{_prefix(query.which)}{_HEAD_OF[type(query)]} {query.key}"


def read(text: str) -> TextQuery:
    """The query that a model has written.

    >>> read("#2 line with Ada Berg")
    Line(key='Ada Berg', which=2)

    Raises:
        QueryError: it asks for nothing.
    """
    asked = text.strip()
    if found := _QUESTION.fullmatch(asked):
        which, head, rest = found.groups()
        number: Which = 1 if which is None else "last" if which == "last" else int(which[1:])
        if head == "between":
            begin, gap, end = rest.partition(GAP)
            if not gap:
                raise QueryError(
                    f"Write between BEGIN{GAP}END, got {asked!r:.200}; the sign between the keys is missing."
                )
            return Between(begin.strip(), end.strip(), number)
        return _KINDS[head](rest.strip(), number)
    return Pattern(asked.removeprefix("pattern ").strip())


def _prefix(which: Which) -> str:
    return "" if which == 1 else "last " if which == "last" else f"#{which} "
