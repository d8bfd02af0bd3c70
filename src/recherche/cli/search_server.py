"""`recherche search serve`: the search of files as a tool for agents, by the Model Context Protocol.

One tool. Every answer names its outcome; patterns that freeze other tools come back within the deadline. Only files
below one folder are read.

Reference: Model Context Protocol, https://modelcontextprotocol.io
"""

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

from recherche.cli.search_text import Hit, Question, by_literal, by_pattern, by_query, file_limits, search_files
from recherche.errors import ConfigError, QueryError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

MOST_FILES = 1000
MOST_RESULTS = 100
MOST_CONTEXT_LINES = 20
MOST_BYTES = 64 << 20
SECONDS, SECONDS_IN_ALL = 2.0, 10.0
"""For one file, and after how many no further file is begun."""

TOOL = """Search text files: exact, and bounded in time whatever is asked.

kind "pattern": a regular expression in Python's syntax; ^ and $ are the ends of lines, (?i) and (?s) may come first.
What it returns is its first group, or the whole match. No look-around and no back-references.
kind "literal": these characters.
kind "query": plain words, one of: after KEY; word after KEY; line with KEY; sentence with KEY; between BEGIN ... END;
with "#2" or "last" before it for another match than the first.

The answer names the outcome: OK, NO_MATCH, SYNTAX, UNSUPPORTED, TOO_LARGE, TIMEOUT and others, with a reason that says
what to do."""

Kind = Literal["pattern", "literal", "query"]


def serve(root: Path) -> None:
    """Answer on standard input and output until the client leaves.

    Raises:
        ConfigError: the package `mcp` is missing, or there is no such folder.
    """
    build_server(root).run("stdio")


def build_server(root: Path) -> "MCPServer":
    """The server with its one tool, for the files below a folder.

    Raises:
        ConfigError: the package `mcp` is missing, or there is no such folder.
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from pydantic import Field
    except ImportError:
        raise ConfigError(
            "A server of tools needs the package mcp, version 2 or later, found none; pip install 'recherche[mcp]'."
        ) from None
    if not root.is_dir():
        raise ConfigError(f"A server reads the files below a folder, {root} is none; give one with --root.")
    folder = Folder(root)
    server = MCPServer("recherche", instructions="Exact, bounded search of text files.", log_level="WARNING")

    @server.tool(description=TOOL, structured_output=True)
    def search_text(
        asked: Annotated[str, Field(description="The pattern, the characters, or the query.")],
        files: Annotated[list[str], Field(description="Paths below the server's folder.", max_length=MOST_FILES)],
        kind: Kind = "pattern",
        context_lines: Annotated[int, Field(ge=0, le=MOST_CONTEXT_LINES)] = 0,
        most_results: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = 20,
        ignore_case: bool = False,
    ) -> dict[str, Any]:
        """Search text files."""
        try:
            ask = _ASKERS[kind](asked, most_results + 1)
        except QueryError as error:
            return {"outcome": "SYNTAX", "reason": str(error), "matches": [], "more": False, "unread": []}
        question = Question(ask, before=context_lines, after=context_lines)
        return folder.answer(question, files, most_results=most_results, ignore_case=ignore_case)

    return server


_ASKERS = {
    "pattern": lambda asked, most: by_pattern(asked, most=most),
    "literal": lambda asked, most: by_literal(asked, most=most),
    "query": lambda asked, most: by_query(asked),
}


@final
class Folder:
    """Answers questions about the files below a folder, and about no others."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def answer(self, question: Question, files: list[str], *, most_results: int, ignore_case: bool) -> dict[str, Any]:
        """What the tool says: `outcome`, `reason`, `matches`, whether there are `more`, and files left `unread`."""
        from recherche.retrieval import Fold

        fold = Fold(form=None, case="ignore") if ignore_case else None
        hits, unread, end = list[Hit](), list[str](), time.monotonic() + SECONDS_IN_ALL
        for number, file in enumerate(files):
            if time.monotonic() > end or sum(hit.passage.text is not None for hit in hits) > most_results:
                unread.append(f"{len(files) - number} files: enough is found, or {SECONDS_IN_ALL:g} seconds are over")
                break
            path = self._allowed(file)
            if isinstance(path, str):
                unread.append(f"{file}: {path}")
                continue
            found, others = search_files(question, [str(path)], limits=file_limits(SECONDS), fold=fold)
            hits += [dataclasses.replace(hit, file=file) for hit in found]
            unread += others
        return _answer(hits, unread, most_results=most_results)

    def _allowed(self, file: str) -> Path | str:
        """The path of a file, or why it is not read."""
        path = (self._root / file).resolve()
        if not path.is_relative_to(self._root):
            return "outside the folder of the server"
        if not path.is_file():
            return "no such file"
        if path.stat().st_size > MOST_BYTES:
            return f"larger than {MOST_BYTES} bytes"
        return path


def _answer(hits: list[Hit], unread: list[str], *, most_results: int) -> dict[str, Any]:
    found = [hit for hit in hits if hit.passage.text is not None]
    outcome, reason = _outcome(hits)
    return {
        "outcome": outcome,
        "reason": reason,
        "matches": [_shown(hit) for hit in found[:most_results]],
        "more": len(found) > most_results,
        "unread": unread,
    }


def _outcome(hits: list[Hit]) -> tuple[str, str]:
    """(name, reason) of the whole: OK if anything was found, else the first refusal, else the first outcome."""
    refused = [hit.passage for hit in hits if hit.passage.status.refused]
    if any(hit.passage.text is not None for hit in hits):
        return "OK", " ".join(sorted({f"{one.status.name}: {one.reason}" for one in refused}))
    if refused:
        return refused[0].status.name, refused[0].reason
    return (hits[0].passage.status.name, "") if hits else ("NO_MATCH", "No file was read.")


def _shown(hit: Hit) -> dict[str, Any]:
    fields = hit.as_dict()
    kept = ("file", "text", "line", "column", "span", "before", "after")
    return {name: fields[name] for name in kept if name in fields}
