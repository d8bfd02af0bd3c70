"""`recherche search`: a bounded regular expression search of a file, by tokens."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from recherche.errors import InputError

if TYPE_CHECKING:
    from recherche.retrieval import Found

NOT_FOUND = 1
REFUSED = 2


def search(
    pattern: Annotated[
        str, typer.Argument(help="A pattern in Python's re syntax; its first group is what is returned.")
    ],
    file: Annotated[str, typer.Argument(help="A text file, or - for standard input.")],
    find_all: Annotated[bool, typer.Option("--all", help="All matches from left to right.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per match.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also say which part answered, and what RE2 would run.")
    ] = False,
) -> None:
    """Search a text the way a model searches its context: whole tokens, linear time, a name for every outcome.

    The text is split at white space. Exit code 0: found, 1: not found, 2: refused.

    [bold]Examples[/bold]

      recherche search '(?:^| )1 ~ ([^ ]+)' graph.txt
      echo '<s> 1 ~ 2 2 ~ 3' | recherche search '([0-9]+) ~ 2' - --all --json
    """
    from recherche.retrieval import Retriever

    context = Retriever().context(read_tokens(file))
    found = context.search_all(pattern) if find_all else [context.explain(pattern)]
    for one in found:
        if as_json:
            print(json.dumps(as_dict(one)))
        else:
            write(one, explain=explain)
    raise typer.Exit(exit_code(found))


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
        print(f"  tier        {found.tier or 'none'}")
        print(f"  translated  {found.translated or 'none'}")
        print(f"  program     {found.program_size or 'none'} instructions")


def exit_code(found: "list[Found]") -> int:
    """0 if anything was found, else 2 if anything was refused, else 1."""
    if any(one.tokens is not None for one in found):
        return 0
    return REFUSED if any(one.status.refused for one in found) else NOT_FOUND
