r"""Print a pattern's tree in RE2 syntax so that RE2 finds what Python's `re` would.

    `$`              `\z`: a text holds no newline
    `.`              `.` with (?s): for the same reason
    `\d` `[^\s]` ..  code ranges (see `charset.py`)
    `\b`             `\b`, if no character of the text is a word character beyond ASCII
    `x{2500}`        `x{1000}x{1000}x{500}`: RE2 repeats at most 1,000 times, nested repeats multiplied

The raw pattern is never given to RE2, which reads the same signs differently.

Reference: RE2 syntax, https://github.com/google/re2/wiki/Syntax
"""

from collections.abc import Collection
from typing import Protocol, final, runtime_checkable

from recherche.retrieval.charset import LAST_CODE, code_ranges, complement, is_word
from recherche.retrieval.limits import Limits
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.syntax import (
    Alternation,
    AnyChar,
    At,
    Char,
    Chars,
    CodeRange,
    Group,
    Node,
    Repeat,
    Sequence,
    Tree,
    expanded_size,
    walk,
)

_MOST_REPEATS = 1000
_NEVER = rf"[^\x00-\x{{{LAST_CODE:X}}}]"


@runtime_checkable
class Signs(Protocol):
    """How single signs are spelled for RE2."""

    def n_ranges(self, node: Chars) -> int:
        """How many code ranges a class has."""

    def spell(self, node: Char | Chars | AnyChar) -> str:
        """One character; the spelling binds as tightly as a character does."""

    def place(self, kind: str) -> str:
        """A place, by the name that `At` gives it."""


def translate(tree: Tree, characters: Collection[str], limits: Limits) -> str:
    r"""RE2's spelling of `tree`, for texts of ASCII and `characters`, other than the empty text.

    >>> from recherche.retrieval.pattern import read_pattern
    >>> translate(read_pattern(r"(?:^| )7 (\S+)$", Limits()), "", Limits())
    '(?s)(?:^| )7 ([^\\x{9}-\\x{D}\\x{1C}- ]+)\\z'

    Raises:
        RefusedError: TOO_LARGE by `limits.tree_size`, or UNSUPPORTED on such texts.
    """
    return print_tree(tree.root, TokenSigns(characters), limits)


def print_tree(root: Node, signs: Signs, limits: Limits) -> str:
    """RE2's spelling of a tree with `signs`.

    Raises:
        RefusedError: TOO_LARGE by `limits.tree_size`, or UNSUPPORTED.
    """
    size = expanded_size(root, signs.n_ranges)
    if size > limits.tree_size:
        raise RefusedError(
            Status.TOO_LARGE,
            f"A pattern may have {limits.tree_size} signs with its repeats written out (Limits.tree_size), got {size}.",
        )
    return "(?s)" + _Printer(signs).print(root, _MOST_REPEATS)


@final
class TokenSigns:
    """Signs of a text without newlines, of ASCII and `characters`."""

    def __init__(self, characters: Collection[str]) -> None:
        self._characters = characters
        self._is_ascii = all(c <= "\x7f" for c in characters)
        self._ranges: dict[Chars, list[CodeRange]] = {}
        self._ascii_words = self._is_ascii or not any(c > "\x7f" and is_word(c) for c in characters)

    def n_ranges(self, node: Chars) -> int:
        """How many code ranges a class has."""
        return len(self._ranges_of(node))

    def spell(self, node: Char | Chars | AnyChar) -> str:
        """One character."""
        match node:
            case Char(text):
                return spell_code(ord(text))
            case Chars():
                return spell_class(self._ranges_of(node))
            case AnyChar():
                return "."

    def place(self, kind: str) -> str:
        """A place, where RE2 sees it as Python does."""
        if kind == "b" and not self._ascii_words:
            raise RefusedError(
                Status.UNSUPPORTED, r"\b in a text with letters or digits beyond ASCII; name the borders."
            )
        if kind == "B" and not self._is_ascii:
            raise RefusedError(Status.UNSUPPORTED, r"\B in a text beyond ASCII; name the characters on both sides.")
        return {"^": "^", "$": r"\z", "b": r"\b", "B": r"\B"}[kind]

    def _ranges_of(self, node: Chars) -> list[CodeRange]:
        """The code ranges of a class, kept, because a pattern may name the same class many times."""
        if node not in self._ranges:
            self._ranges[node] = code_ranges(node, self._characters)
        return self._ranges[node]


class _Printer:
    """Prints node by node; `budget` is how often RE2 may still repeat what is printed."""

    def __init__(self, signs: Signs) -> None:
        self._signs = signs

    def print(self, node: Node, budget: int) -> str:
        match node:
            case Char() | Chars() | AnyChar():
                return self._signs.spell(node)
            case At(kind):
                return self._signs.place(kind)
            case Sequence(items):
                return "".join(self._item(item, budget) for item in items)
            case Alternation(branches):
                return "|".join(self.print(branch, budget) for branch in branches)
            case Group(None, body):
                return f"(?:{self.print(body, budget)})"
            case Group(_, body):
                return f"({self.print(body, budget)})"
            case Repeat():
                return self._repeat(node, budget)

    def _item(self, node: Node, budget: int) -> str:
        printed = self.print(node, budget)
        return f"(?:{printed})" if isinstance(node, Alternation) else printed

    def _repeat(self, node: Repeat, budget: int) -> str:
        body, low, high, lazy = node.body, node.low, node.high, "" if node.greedy else "?"
        most = low if high is None else high
        if most <= budget:
            return self._atom(body, budget // max(most, 1)) + _range(low, high) + lazy
        if any(isinstance(part, Group) and part.number is not None for part in walk(body)):
            return self._repeat_with_groups(node, budget)
        piece = self._atom(body, 1)
        ending = piece + "*" + lazy if high is None else ""
        return _times(piece, low, budget) + ending + _up_to(piece, (high or low) - low, budget, lazy)

    def _repeat_with_groups(self, node: Repeat, budget: int) -> str:
        """Only the last round decides what a group holds, so earlier rounds need none if every round sets it."""
        last = max(1, node.low - (node.low - 1) // budget * budget)
        spread = 0 if node.high is None else node.high - node.low
        if node.low <= budget or last + spread > budget or not _sets_its_groups(node.body):
            raise RefusedError(
                Status.UNSUPPORTED, f"A group inside a repeat beyond {_MOST_REPEATS:,}; put the group after the repeat."
            )
        earlier = _times(self._atom(_without_groups(node.body), 1), node.low - last, budget)
        high = None if node.high is None else last + spread
        return earlier + self._repeat(Repeat(node.body, last, high, node.greedy), budget)

    def _atom(self, node: Node, budget: int) -> str:
        printed = self.print(node, budget)
        return printed if isinstance(node, Char | Chars | AnyChar | Group) else f"(?:{printed})"


def _times(piece: str, count: int, most: int) -> str:
    rounds, rest = divmod(count, most)
    return (piece + _range(most, most)) * rounds + (piece + _range(rest, rest) if rest else "")


def _up_to(piece: str, count: int, most: int, lazy: str) -> str:
    rounds, rest = divmod(count, most)
    return (piece + _range(0, most) + lazy) * rounds + (piece + _range(0, rest) + lazy if rest else "")


def _range(low: int, high: int | None) -> str:
    if (low, high) in _SHORT:
        return _SHORT[low, high]
    return f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"


_SHORT: dict[tuple[int, int | None], str] = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def _sets_its_groups(node: Node) -> bool:
    """Whether every way through the node passes all of its groups."""
    optional = [
        part for part in walk(node) if isinstance(part, Alternation) or (isinstance(part, Repeat) and not part.low)
    ]
    return not any(isinstance(part, Group) and part.number is not None for top in optional for part in walk(top))


def _without_groups(node: Node) -> Node:
    match node:
        case Sequence(items):
            return Sequence(tuple(map(_without_groups, items)))
        case Alternation(branches):
            return Alternation(tuple(map(_without_groups, branches)))
        case Group(_, body):
            return Group(None, _without_groups(body))
        case Repeat(body, low, high, greedy):
            return Repeat(_without_groups(body), low, high, greedy)
        case _:
            return node


def spell_code(code: int) -> str:
    """One code point."""
    character = chr(code)
    if character.isascii() and (character.isalnum() or character in " _"):
        return character
    if character.isascii() and character.isprintable():
        return "\\" + character
    return rf"\x{{{code:X}}}"


def spell_class(ranges: list[CodeRange]) -> str:
    """One of sorted disjoint code ranges."""
    if not ranges:
        return _NEVER
    others = complement(ranges)
    if len(others) < len(ranges) or (others and others[-1][1] < LAST_CODE):
        return f"[^{_spell_ranges(others)}]" if others else "."
    return f"[{_spell_ranges(ranges)}]"


def _spell_ranges(ranges: list[CodeRange]) -> str:
    ascii_part = [
        spell_code(low) if low == high else f"{spell_code(low)}-{spell_code(high)}" for low, high in ranges if low < 128
    ]
    beyond = [
        rf"\x{{{low:X}}}-\x{{{high:X}}}" if low < high else rf"\x{{{low:X}}}" for low, high in ranges if low >= 128
    ]
    return "".join(ascii_part + beyond)
