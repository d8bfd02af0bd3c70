"""Real prose for filler: three novels in the public domain that ship with the package, or a file of the user's own.

Where they come from and what was changed stands in data/README.md.

    >>> book("moby_dick")[22:38]
    'Call me Ishmael.'
    >>> "".join(pieces()) == prose()
    True
"""

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from recherche._lookup import lookup
from recherche.errors import InputError

BOOKS = ("moby_dick", "pride_and_prejudice", "persuasion")
"""The books that ship with the package."""

MIN_WORDS = 100
"""The fewest words of prose of one's own."""

_PIECE = re.compile(r"\S+\s*")
_FULL_STOP = r"(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)\."
_SENTENCE_END = re.compile(rf"(?:{_FULL_STOP}|[!?])[\"')\]]*\s+\Z|\n\s*\n\Z")


def book(name: str) -> str:
    """The text of a book: a paragraph a line, blank lines between them.

    Raises:
        ConfigError: no such book.
    """
    lookup({known: known for known in BOOKS}, name, what="book")
    return files("recherche.texts").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")


@cache
def prose(path: str | None = None) -> str:
    """All books one after the other, or the text of a file.

    Raises:
        InputError: the file cannot be read, or holds fewer than MIN_WORDS words.
    """
    if path is None:
        return "\n".join(book(name) for name in BOOKS)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the prose {path}: {error}; give a file of plain text in UTF-8.") from error
    if (number := len(text.split())) < MIN_WORDS:
        raise InputError(f"Prose needs at least {MIN_WORDS} words, found {number} in {path}; give a longer text.")
    return f"{text.strip()}\n\n"


@cache
def pieces(path: str | None = None) -> tuple[str, ...]:
    """The words of the prose, each with the white space after it.

    Raises:
        InputError: as `prose` does.
    """
    return tuple(_PIECE.findall(prose(path)))


def passage(start: int, count: int, *, path: str | None = None) -> tuple[str, ...]:
    """`count` words from word `start` on, each with the white space after it; after the last word comes the first.

    Raises:
        InputError: as `prose` does.
    """
    there = pieces(path)
    begin = start % len(there)
    turns = (begin + count) // len(there) + 1
    return (there * turns)[begin : begin + count] if turns > 1 else there[begin : begin + count]


@cache
def sentence_starts(path: str | None = None) -> tuple[int, ...]:
    """The words that begin a sentence, counted from 0.

    Raises:
        InputError: as `prose` does.
    """
    there = pieces(path)
    return (0, *(end for end in sentence_ends(there) if end < len(there)))


@cache
def sentences(path: str | None = None) -> tuple[str, ...]:
    """The sentences of the prose in order, each on one line; a heading counts as one.

    Raises:
        InputError: as `prose` does.
    """
    there, starts = pieces(path), sentence_starts(path)
    return tuple(
        " ".join("".join(there[begin:end]).split())
        for begin, end in zip(starts, (*starts[1:], len(there)), strict=True)
    )


def sentence_ends(words: tuple[str, ...]) -> tuple[int, ...]:
    """How many words there are up to each end of a sentence or a paragraph.

    Args:
        words: each with the white space after it.

    >>> sentence_ends(("It ", "rains. ", "So ", "what?" ))
    (2,)
    """
    return tuple(end for end, word in enumerate(words, start=1) if _SENTENCE_END.search(word))
