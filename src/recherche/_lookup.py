"""Name -> member of a read-only table; an unknown name is answered with the nearest names and the whole list.

A `Registry` holds classes of the package by their short names, and finds one's own by `package.module:Class`:

    TASKS["recall"]                 recherche.tasks.recall.Recall
    TASKS["mine.parity:Parity"]     Parity of mine/parity.py

Importing a module runs it, and names come from files too: a run folder, a certificate, a grid. So a module is imported
only at the user's own word, which is a command line (`--import`, `--task`, `--mixer`) or the variable RECHERCHE_IMPORT.
A name in a file finds what has been imported already, and is refused otherwise.
"""

import difflib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from inspect import isabstract
from types import MappingProxyType
from typing import Any, Generic, TypeVar, final

from recherche.errors import ConfigError

Member = TypeVar("Member")
IMPORT_VARIABLE = "RECHERCHE_IMPORT"
"""Modules that may be imported by a name, with commas between them; processes hand it on to those they start."""


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


@final
class Registry(Mapping[str, type[Member]], Generic[Member]):
    """Classes by name: those it was made of, and any other subclass of `base` as `package.module:Class`."""

    def __init__(
        self, found: Iterable[object], base: type[Any], *, key: Callable[[type[Member]], str], what: str
    ) -> None:
        """Keep those of `found` that are concrete subclasses of `base`.

        Args:
            key: the short name of a class.
            what: the singular noun for a member, used in messages.
        """
        classes = [thing for thing in found if isinstance(thing, type) and issubclass(thing, base)]
        self._members = MappingProxyType({key(member): member for member in classes if not isabstract(member)})
        self._base, self._what = base, what

    def __getitem__(self, name: str) -> type[Member]:
        """The class called `name`.

        Raises:
            KeyError: no class has this short name.
            ConfigError: a path to no such class, or to a module that nobody has allowed to be imported.
        """
        return self._own(name) if ":" in name else self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def _own(self, path: str) -> type[Member]:
        home, _, name = path.partition(":")
        if not all(part.isidentifier() for part in (*home.split("."), name)):
            raise ConfigError(f"A {self._what} of your own is written package.module:Class, got {path!r}.")
        member = getattr(_module(home, path, what=self._what), name, None)
        if not (isinstance(member, type) and issubclass(member, self._base)) or isabstract(member):
            found = "no such name" if member is None else f"{member!r:.80}"
            raise ConfigError(
                f"The {self._what} {path!r} must be a subclass of {self._base.__name__} without abstract methods, "
                f"found {found} in {home}; name such a class as package.module:Class."
            )
        return member


def allow_import(name: str) -> str:
    """Let the module of a path `package.module:Class`, or a module, be imported from now on; returns `name`.

    Only for names that the user has written himself. Processes started later may import it too.
    """
    home = name.partition(":")[0]
    if home not in _allowed():
        os.environ[IMPORT_VARIABLE] = ",".join((*_allowed(), home))
    return name


def allow_own(name: str) -> str:
    """`allow_import` for a path `package.module:Class`; the short names of the package need no leave."""
    return allow_import(name) if ":" in name else name


def import_allowed(home: str) -> None:
    """Import a module that the user has named.

    Raises:
        ConfigError: it cannot be imported.
    """
    _module(allow_import(home), home, what="module")


def _allowed() -> tuple[str, ...]:
    return tuple(filter(None, os.environ.get(IMPORT_VARIABLE, "").split(",")))


def _module(home: str, path: str, *, what: str) -> object:
    if home in sys.modules:
        return sys.modules[home]
    if home not in _allowed():
        raise ConfigError(
            f"The {what} {path!r} is not part of the package, and a name in a file imports nothing by itself; if you "
            f"trust the module {home}, say so: recherche --import {home} ..., or import it in Python first."
        )
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # where a user's own file lies; last, so that it hides nothing
    try:
        return import_module(home)
    except (ImportError, SyntaxError) as error:
        raise ConfigError(
            f"The {what} {path!r} cannot be imported: {error}; run from the folder of {home.partition('.')[0]}, "
            "or put that folder on PYTHONPATH."
        ) from error
