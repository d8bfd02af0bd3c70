"""JSON files that are whole or absent, and files of lines that grow."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recherche._files import write_text
from recherche.errors import InputError


def write_json(path: Path, value: Any) -> None:
    """Replace a file by one JSON value, indented for people."""
    write_text(path, json.dumps(value, indent=2) + "\n")


def write_json_lines(path: Path, rows: Iterable[Any]) -> None:
    """Replace a file by one JSON value a line."""
    write_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def append_json_line(path: Path, row: Any) -> None:
    """Add one line to a file; a crash can leave the last line short, which `read_json_lines` drops."""
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def read_json(path: Path) -> Any:
    """The JSON value in a file.

    Raises:
        InputError: the file is missing or not JSON.
    """
    try:
        return json.loads(path.read_text())
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}; run the command that makes it, or name another folder.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not JSON ({error}); delete it and run the command that makes it again.") from error


def read_json_lines(path: Path) -> list[Any]:
    """The rows of a file that grows line by line; empty if there is none, without a last line that was cut short.

    Raises:
        InputError: a line before the last one is not JSON.
    """
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            if number == len(lines):
                break
            raise InputError(
                f"Line {number} of {path} is not JSON ({error}); delete the file to make it again."
            ) from error
    return rows
