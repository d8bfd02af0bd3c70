"""Files that are whole or absent: written under another name beside the target, then renamed over it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` when the block ends and is removed if it fails.

    The folder of `path` is made if it is not there. Each process has a name of its own, so that two that write the
    same file do not mix.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace a file by `text`, all of it or nothing."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file by `data`, all of it or nothing."""
    with replacing(path) as draft:
        draft.write_bytes(data)
