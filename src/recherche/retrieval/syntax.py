"""The tree of a pattern: the part of Python's `re` syntax that can be searched for in linear time.

Left out, by name: look-around, back-references, conditionals, atomic groups, possessive repeats, flags other than
leading ones (over tokens `(?s)`, over a text `(?i)`, `(?m)` and `(?s)`), and repeats of a body that can be empty (what
their groups hold differs between engines).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

CodeRange = tuple[int, int]
"""First and last code point."""


@final
@dataclass(frozen=True, slots=True)
class Char:
    """One character."""

    text: str


@final
@dataclass(frozen=True, slots=True)
class Chars:
    """A character class: code ranges and the letters d D s S w W, or everything else if negated."""

    ranges: tuple[CodeRange, ...]
    categories: str = ""
    negated: bool = False


@final
@dataclass(frozen=True, slots=True)
class AnyChar:
    """The dot; over tokens, which hold no newline, it is any character."""


@final
@dataclass(frozen=True, slots=True)
class At:
    r"""A place: `^` the start, `$` the end, `b` a word border, `B` none.

    Over a text with lines also `A` and `Z` for `\A` and `\Z`, which over tokens are `^` and `$`.
    """

    kind: str


@final
@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other."""

    items: tuple["Node", ...]


@final
@dataclass(frozen=True, slots=True)
class Alternation:
    """The first branch that leads to a match."""

    branches: tuple["Node", ...]


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Parentheses; `number` is None if they do not capture."""

    number: int | None
    body: "Node"


@final
@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` from `low` to `high` times (None: without end), as often or as seldom as possible."""

    body: "Node"
    low: int
    high: int | None
    greedy: bool = True


Node = Char | Chars | AnyChar | At | Sequence | Alternation | Group | Repeat


@final
@dataclass(frozen=True, slots=True)
class Tree:
    """A pattern that has been read; `flags` are the letters of its leading flags."""

    root: Node
    n_groups: int
    flags: str = ""


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Sequence(items):
            return items
        case Alternation(branches):
            return branches
        case Group(_, body) | Repeat(body):
            return (body,)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def can_be_empty(node: Node) -> bool:
    """Whether the node can match the empty text."""
    match node:
        case Char() | Chars() | AnyChar():
            return False
        case At():
            return True
        case Sequence(items):
            return all(map(can_be_empty, items))
        case Alternation(branches):
            return any(map(can_be_empty, branches))
        case Group(_, body):
            return can_be_empty(body)
        case Repeat(body, low):
            return low == 0 or can_be_empty(body)


def expanded_size(node: Node, n_ranges: Callable[[Chars], int]) -> int:
    """Number of signs when every repeat is written out: a class counts its ranges, a round that may be left out twice.

    Args:
        n_ranges: number of code ranges of a class.
    """
    match node:
        case Chars():
            return 1 + n_ranges(node)
        case Repeat(body, low, high):
            spread = 0 if high is None else high - low
            return 1 + expanded_size(body, n_ranges) * max(1, low, high or 0) + spread
        case _:
            return 1 + sum(expanded_size(child, n_ranges) for child in children(node))
