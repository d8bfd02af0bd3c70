"""What can be asked of a context: one frozen value per kind of query, with its meaning in one line.

A query says what is wanted, not how it is found: `recherche.retrieval` renders each to a regular expression
(`templates.py`) and answers it from an index. Tasks name the queries that their retrieval traces make.

Reference: Wen, Dang & Lyu (2024), Section 5.1 and Appendix C.4-C.5, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from typing import Literal, final

from recherche.errors import QueryError


def _require_token(kind: str, token: str) -> None:
    if not token or " " in token or "\n" in token:
        raise QueryError(
            f"{kind} looks for one token, got {token!r}; a token is not empty and holds no space or newline."
        )


@final
@dataclass(frozen=True, slots=True)
class Index:
    """The token at a position, counted from 1 over the unmasked tokens, `<s>` included."""

    position: int

    def __post_init__(self) -> None:
        if self.position < 1:
            raise QueryError(f"Index counts positions from 1, got {self.position}; use 1 for the first token.")


@final
@dataclass(frozen=True, slots=True)
class AR:
    """The token after the first (or last) occurrence of `key` that is followed by at least two tokens."""

    key: str
    select: Literal["first", "last"] = "first"

    def __post_init__(self) -> None:
        _require_token("AR", self.key)
        if self.select not in ("first", "last"):
            raise QueryError(f"AR selects the 'first' or the 'last' occurrence, got {self.select!r}; choose one.")


@final
@dataclass(frozen=True, slots=True)
class CGram:
    """The token after the first gram `prefix` (c - 1 tokens), before the query's own copy of it."""

    prefix: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.prefix:
            raise QueryError(
                "CGram needs at least one token to look for, got none; give the c - 1 tokens before the answer."
            )
        for token in self.prefix:
            _require_token("CGram", token)


@final
@dataclass(frozen=True, slots=True)
class Count:
    """`value` itself if it occurs more than `threshold` times before the query's own two tokens, else nothing."""

    value: str
    threshold: int

    def __post_init__(self) -> None:
        _require_token("Count", self.value)
        if self.threshold < 0:
            raise QueryError(
                f"Count compares with a threshold of at least 0, got {self.threshold}; use 0 for 'occurs'."
            )


@final
@dataclass(frozen=True, slots=True)
class Parent:
    """The token T of the first record `T - child`: the parent, or proof that `child` has been visited."""

    child: str

    def __post_init__(self) -> None:
        _require_token("Parent", self.child)


@final
@dataclass(frozen=True, slots=True)
class FirstEdge:
    """The other end of the first edge `u ~ vertex` or `vertex ~ u`."""

    vertex: str

    def __post_init__(self) -> None:
        _require_token("FirstEdge", self.vertex)


@final
@dataclass(frozen=True, slots=True)
class NextEdge:
    """The other end of the first edge at `vertex` after the edge {`after`, `vertex`}, in either orientation."""

    vertex: str
    after: str

    def __post_init__(self) -> None:
        _require_token("NextEdge", self.vertex)
        _require_token("NextEdge", self.after)


@final
@dataclass(frozen=True, slots=True)
class LastWrite:
    """The value of the last record `pointer = value ;`."""

    pointer: str

    def __post_init__(self) -> None:
        _require_token("LastWrite", self.pointer)


Query = Index | AR | CGram | Count | Parent | FirstEdge | NextEdge | LastWrite
