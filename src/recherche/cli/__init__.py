"""The command line: one file per group of commands, tied together in `app`."""

from recherche.cli.app import main

__all__ = ["main"]
