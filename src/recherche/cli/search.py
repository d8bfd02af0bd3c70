"""`recherche search`: a bounded search of files, by tokens or as they are, for people and for agents."""

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console

from recherche.cli.search_text import (
    Asker,
    Question,
    by_literal,
    by_pattern,
    by_query,
    file_limits,
    search_files,
    show,
    write_how,
)
from recherche.errors import ConfigError, InputError

if TYPE_CHECKING:
    from recherche.retrieval import Fold, Found

NOT_FOUND = 1
REFUSED = 2
SERVE = "serve"

Pattern = Annotated[
    str, typer.Argument(help="A pattern in Python's re syntax; its first group is what is returned. Or: serve.")
]
Files = Annotated[list[str] | None, typer.Argument(metavar="FILE...", help="Text files, or - for standard input.")]
All = Annotated[bool, typer.Option("--all", help="All matches from left to right.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object per match.")]
Explain = Annotated[bool, typer.Option("--explain", help="Also say which part answered, and what RE2 would run.")]
AsText = Annotated[
    bool, typer.Option("--text", help="Search lines and characters, not tokens; the next ones imply it.")
]
Literal = Annotated[bool, typer.Option("--literal", help="PATTERN is no pattern but these characters.")]
Query = Annotated[bool, typer.Option("--query", help="PATTERN is a question in plain words, as 'after Ada Berg:'.")]
Before = Annotated[int, typer.Option("--before", "-B", min=0, help="Lines to show before a match.")]
After = Annotated[int, typer.Option("--after", "-A", min=0, help="Lines to show after a match.")]
IgnoreCase = Annotated[bool, typer.Option("--ignore-case", "-i", help="Take upper and lower case together.")]
NormalForm = Annotated[bool, typer.Option("--fold", help="Take composed and decomposed letters together (NFC).")]
Deadline = Annotated[float, typer.Option(min=0.001, help="Seconds for each text.")]
Root = Annotated[Path, typer.Option(help="With serve: the folder whose files may be searched.")]


def search(
    pattern: Pattern,
    files: Files = None,
    find_all: All = False,
    as_json: AsJson = False,
    explain: Explain = False,
    as_text: AsText = False,
    literal: Literal = False,
    query: Query = False,
    before: Before = 0,
    after: After = 0,
    ignore_case: IgnoreCase = False,
    fold: NormalForm = False,
    deadline: Deadline = 10.0,
    root: Root = Path(),
) -> None:
    r"""Search a file the way a model searches its context: linear time, a name for every outcome.

    A file is split at white space, and a match must be whole tokens. With [bold]--text[/bold] files are searched as
    they are: ^ and $ are the ends of lines, a pattern without a group returns the whole match, and what is found is
    shown as FILE:LINE:COLUMN:TEXT. Exit code 0: found, 1: not found, 2: refused.

    [bold]Examples[/bold]

      recherche search '(?:^| )1 ~ (\[^ ]+)' graph.txt
      echo '<s> 1 ~ 2 2 ~ 3' | recherche search '(\[0-9]+) ~ 2' - --all --json
      recherche search --text '^def (\w+)' src/*.py --all
      recherche search --query 'last line with Ada Berg' notes.txt
      recherche search serve --root ~/project    [dim]an MCP server for agents[/dim]
    """
    if pattern == SERVE and not files:
        from recherche.cli.search_server import serve

        return serve(root)
    if not files:
        raise ConfigError(f"A search for {pattern!r} needs files, got none; name them, or give - for standard input.")
    if as_text or literal or query or before or after or ignore_case or fold:
        question = Question(_asker(pattern, math.inf if find_all else 1, literal=literal, query=query), before, after)
        hits, unread = search_files(question, files, limits=file_limits(deadline), fold=_fold(fold, ignore_case))
        show(hits, unread, as_json=as_json, explain=explain)
        is_found = any(hit.passage.text is not None for hit in hits)
        raise typer.Exit(exit_code(is_found, [hit.passage.status.refused for hit in hits] + [True] * bool(unread)))
    if len(files) > 1:
        raise ConfigError(f"Tokens are searched in one file, got {len(files)}; search several with --text.")
    _search_tokens(pattern, files[0], find_all=find_all, as_json=as_json, explain=explain)


def _search_tokens(pattern: str, file: str, *, find_all: bool, as_json: bool, explain: bool) -> NoReturn:
    from recherche.retrieval import Retriever

    context = Retriever().context(read_tokens(file))
    found = context.search_all(pattern) if find_all else [context.explain(pattern)]
    for one in found:
        if as_json:
            print(json.dumps(as_dict(one)))
        else:
            write(one, explain=explain)
    raise typer.Exit(exit_code(any(one.tokens is not None for one in found), [one.status.refused for one in found]))


def _asker(pattern: str, most: float | int, *, literal: bool, query: bool) -> Asker:
    if query and (literal or most > 1):
        raise ConfigError("A --query says itself which match it wants; leave out --all and --literal.")
    if query:
        return by_query(pattern)
    return by_literal(pattern, most=most) if literal else by_pattern(pattern, most=most)


def _fold(normal_form: bool, ignore_case: bool) -> "Fold | None":
    from recherche.retrieval import Fold

    if not (normal_form or ignore_case):
        return None
    return Fold(form="NFC" if normal_form else None, case="ignore" if ignore_case else "keep")


def read_tokens(file: str) -> list[str]:
    """The tokens of a UTF-8 file, split at ASCII white space; `-` is standard input.

    Raises:
        InputError: the file cannot be opened or is not UTF-8.
    """
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InputError(
            f"Cannot read the text {file}: {error.strerror}; give a file, or - for standard input."
        ) from None
    try:
        return [token.decode() for token in data.split()]
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 ({error.reason}); convert it first.") from None


def as_dict(found: "Found") -> dict[str, Any]:
    """One outcome as JSON holds it."""
    return {**found._asdict(), "status": found.status.name}


def write(found: "Found", *, explain: bool) -> None:
    """One outcome for the terminal: what was found on standard output, why nothing was on standard error."""
    if found.tokens is not None and found.span is not None:
        print(f"{' '.join(found.tokens)}\t{found.span[0]}:{found.span[1]}")
    else:
        Console(stderr=True).print(
            f"{found.status.name}: {found.reason or found.status.value}", markup=False, soft_wrap=True
        )
    if explain:
        write_how(found)


def exit_code(is_found: bool, refused: list[bool]) -> int:
    """0 if anything was found, else 2 if anything was refused, else 1."""
    if is_found:
        return 0
    return REFUSED if any(refused) else NOT_FOUND
