"""Searching files as they are: lines, characters, a place for whatever is found."""

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from rich.console import Console

from recherche.errors import InputError

if TYPE_CHECKING:
    from recherche.retrieval import Fold, Found, Limits, Passage, TextContext

STANDARD_INPUT = "-"
LINES = "(?m)"
"""What a pattern over a file begins with, because in a file `^` and `$` are looked for at each line."""


@final
@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of each file.

    Attributes:
        ask: the outcomes in one text.
        before: lines to show before each place.
        after: lines to show after it.
    """

    ask: "Asker"
    before: int = 0
    after: int = 0


@final
@dataclass(frozen=True, slots=True)
class Hit:
    """One outcome in one file, with the lines around it."""

    file: str
    passage: "Passage"
    lines: Sequence[str]
    question: Question

    @property
    def rows(self) -> range:
        """The lines on which the passage stands, from 0."""
        assert self.passage.line is not None
        assert self.passage.text is not None
        first = self.passage.line - 1
        return range(first, first + 1 + self.passage.text[:-1].count("\n"))

    @property
    def before(self) -> range:
        """The lines to show before it."""
        return range(max(0, self.rows.start - self.question.before), self.rows.start)

    @property
    def after(self) -> range:
        """The lines to show after it."""
        return range(self.rows.stop, min(len(self.lines), self.rows.stop + self.question.after))

    def as_dict(self) -> dict[str, Any]:
        """The outcome as JSON holds it."""
        fields = {**self.passage._asdict(), "status": self.passage.status.name}
        around = {}
        if self.passage.text is not None and (self.question.before or self.question.after):
            around = {name: [self.lines[row] for row in getattr(self, name)] for name in ("before", "after")}
        return {"file": self.file, **fields, **around}

    def __str__(self) -> str:
        if not (self.question.before or self.question.after):
            return f"{self.file}:{self.passage.line}:{self.passage.column}:{self.passage.text}"
        shown = [f"{self.file}-{row + 1}-{self.lines[row]}" for row in self.before]
        shown += [f"{self.file}:{row + 1}:{self.lines[row]}" for row in self.rows]
        return "\n".join(shown + [f"{self.file}-{row + 1}-{self.lines[row]}" for row in self.after])


Asker = Callable[["TextContext"], "list[Passage]"]


def by_pattern(written: str, *, most: float | int) -> Asker:
    """Ask for the matches of a pattern, none over another, up to `most` of them."""
    return lambda context: context.search_all(LINES + written, most=most)


def by_literal(written: str, *, most: float | int) -> Asker:
    """Ask for the places of these characters, none over another, up to `most` of them."""
    if most == 1:
        return lambda context: [context.literal(written)]
    return by_pattern(re.escape(written), most=most)


def by_query(written: str) -> Asker:
    """Ask in plain words.

    Raises:
        QueryError: the words ask for nothing.
    """
    from recherche.text_queries import read

    asked = read(written)
    return lambda context: [context.query(asked)]


def search_files(
    question: Question, files: Sequence[str], *, limits: "Limits", fold: "Fold | None"
) -> tuple[list[Hit], list[str]]:
    """(the outcomes in each file, one sentence for each file that could not be read)."""
    from recherche.retrieval import Retriever

    hits, unread = list[Hit](), list[str]()
    for file in files:
        try:
            text = read_text(file)
        except InputError as error:
            unread.append(str(error))
            continue
        found = question.ask(Retriever(limits=limits).text(text, fold=fold))
        lines = text.removesuffix("\n").split("\n") if question.before or question.after else ()
        hits.extend(Hit(file, one, lines, question) for one in found)
    return hits, unread


def file_limits(seconds: float) -> "Limits":
    """The limits of a text, with another deadline."""
    from recherche.retrieval import TEXT_LIMITS

    return dataclasses.replace(TEXT_LIMITS, deadline_ms=1000 * seconds)


def read_text(file: str) -> str:
    """The text of a UTF-8 file, its line breaks as they are; `-` is standard input.

    Raises:
        InputError: the file cannot be opened or is not UTF-8.
    """
    try:
        data = sys.stdin.buffer.read() if file == STANDARD_INPUT else Path(file).read_bytes()
    except OSError as error:
        raise InputError(
            f"Cannot read the text {file}: {error.strerror}; give a file, or - for standard input."
        ) from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 ({error.reason}); convert it first.") from None


def show(hits: Sequence[Hit], unread: Sequence[str], *, as_json: bool, explain: bool) -> None:
    """The outcomes for the terminal: what was found on standard output, why nothing was on standard error.

    Of several files, those without a match are not named.
    """
    errors = Console(stderr=True)
    for sentence in unread:
        errors.print(f"error: {sentence}", markup=False, soft_wrap=True, highlight=False)
    is_alone = len({hit.file for hit in hits}) == 1
    for number, hit in enumerate(hits):
        if as_json:
            print(json.dumps(hit.as_dict()))
        elif hit.passage.text is not None:
            if number and (hit.question.before or hit.question.after):
                print("--")
            print(hit)
        elif is_alone or hit.passage.status.refused:
            said = hit.passage.reason or hit.passage.status.value
            errors.print(f"{hit.file}: {hit.passage.status.name}: {said}", markup=False, soft_wrap=True)
        if explain and not as_json:
            write_how(hit.passage)


def write_how(found: "Found | Passage") -> None:
    """Which part answered, and what RE2 has run, for the terminal."""
    print(f"  tier        {found.tier or 'none'}")
    print(f"  translated  {found.translated or 'none'}")
    print(f"  program     {found.program_size or 'none'} instructions")
