"""Files that are whole or absent: written under another name beside the target, then renamed over it."""

import os
import shutil
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


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """A folder to write files to, which are moved to `folder` when the block ends, and removed if it fails.

    Files of the same name are replaced; others that are in `folder` already stay.
    """
    draft = folder.absolute().with_name(f".{folder.absolute().name}.{os.getpid()}.draft")
    draft.mkdir(parents=True)
    try:
        yield draft
        folder.mkdir(exist_ok=True)
        for path in sorted(draft.iterdir()):
            os.replace(path, folder / path.name)
    finally:
        shutil.rmtree(draft)


def write_text(path: Path, text: str) -> None:
    """Replace a file by `text`, all of it or nothing."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file by `data`, all of it or nothing."""
    with replacing(path) as draft:
        draft.write_bytes(data)
