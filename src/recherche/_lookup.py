"""Name -> member of a read-only table; an unknown name is answered with the nearest names and the whole list."""

import difflib
from collections.abc import Mapping
from typing import TypeVar

from recherche.errors import ConfigError

Member = TypeVar("Member")


def lookup(table: Mapping[str, Member], name: str, *, what: str) -> Member:
    """The member of `table` called `name`.

    Args:
        what: the singular noun for a member, used in the message ("task", "preset").

    Raises:
        ConfigError: no member has that name.

    >>> lookup({"mamba": 1}, "mamba", what="architecture")
    1
    """
    if name in table:
        return table[name]
    near = difflib.get_close_matches(name, table, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise ConfigError(f"There is no {what} {name!r}; {hint}Choose from: {', '.join(table)}.")
