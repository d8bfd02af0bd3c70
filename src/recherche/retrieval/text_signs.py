r"""How signs are spelled for RE2 over a text with lines, so that they mean what they mean in Python.

    `^` `$` with (?m)     `(?m:^)` `(?m:$)`
    `$` without           `\z`; where the text ends with a line break, Python's `$` also stands before that one:
                          `()\n?\z` at the end of the pattern, whose empty group says where the match ends
    `.`                   `.` with (?s), else `[^\n]`
    `k` with (?i)         `[Kk]`, with the Kelvin sign if the text has one
    `\w` `[^a]` ..        ranges over ASCII and the characters that occur

Reference: RE2 syntax, https://github.com/google/re2/wiki/Syntax
"""

from bisect import bisect_right
from collections.abc import Collection
from typing import final

from recherche.retrieval.charset import code_ranges, is_word
from recherche.retrieval.ignore_case import same_but_for_case
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.syntax import Alternation, AnyChar, At, Char, Chars, CodeRange, Group, Node, Sequence, walk
from recherche.retrieval.translate import spell_class, spell_code

_ASCII = tuple(map(chr, range(128)))
FINAL_BREAK = At("final")
"""A `$` after which the pattern ends, over a text that ends with a line break."""


@final
class TextSigns:
    """Signs of texts of ASCII and `characters`, under the flags of a pattern."""

    def __init__(self, characters: Collection[str], flags: str) -> None:
        self._beyond = sorted(characters)
        self._flags = flags
        self._ranges: dict[Char | Chars, list[CodeRange]] = {}

    def n_ranges(self, node: Chars) -> int:
        """How many code ranges a class has."""
        return len(self._ranges_of(node))

    def spell(self, node: Char | Chars | AnyChar) -> str:
        """One character."""
        match node:
            case AnyChar():
                return "." if "s" in self._flags else r"[^\n]"
            case Char(text) if "i" not in self._flags:
                return spell_code(ord(text))
            case _:
                return spell_class(self._ranges_of(node))

    def place(self, kind: str) -> str:
        """A place, where RE2 sees it as Python does."""
        match kind:
            case "^" | "$" if "m" in self._flags:
                return f"(?m:{kind})"
            case "b" if any(map(is_word, self._beyond)):
                raise RefusedError(
                    Status.UNSUPPORTED, r"\b in a text with letters or digits beyond ASCII; name the borders."
                )
            case "B" if self._beyond:
                raise RefusedError(Status.UNSUPPORTED, r"\B in a text beyond ASCII; name the characters on both sides.")
        return {"^": r"\A", "A": r"\A", "$": r"\z", "Z": r"\z", "final": r"()\n?\z", "b": r"\b", "B": r"\B"}[kind]

    def _ranges_of(self, node: Char | Chars) -> list[CodeRange]:
        """The code ranges of a character or a class, kept, because a pattern may name the same one many times."""
        if node not in self._ranges:
            self._ranges[node] = self._runs(node)
        return self._ranges[node]

    def _runs(self, node: Char | Chars) -> list[CodeRange]:
        """Ranges from one occurring member to another, over characters that do not occur but over none that is out."""
        member = _Membership(node, self._beyond, self._flags)
        runs: list[CodeRange] = []
        is_open = False
        for characters in (_ASCII, self._beyond):
            for character in characters:
                is_member = character in member
                if is_member and is_open:
                    runs[-1] = runs[-1][0], ord(character)
                elif is_member:
                    runs.append((ord(character), ord(character)))
                is_open = is_member
        return runs


class _Membership:
    """The characters that a node matches, of ASCII and `beyond`."""

    def __init__(self, node: Char | Chars, beyond: list[str], flags: str) -> None:
        chars = node if isinstance(node, Chars) else Chars(((ord(node.text), ord(node.text)),))
        self._negated = chars.negated
        self._ignores_case = "i" in flags
        self._explicit = code_ranges(Chars(chars.ranges), "")
        self._categories = code_ranges(Chars((), chars.categories), beyond) if chars.categories else []

    def __contains__(self, character: str) -> bool:
        same = same_but_for_case(character) if self._ignores_case else (character,)
        held = any(_holds(self._explicit, one) for one in same) or _holds(self._categories, character)
        return held is not self._negated


def _holds(ranges: list[CodeRange], character: str) -> bool:
    at = bisect_right(ranges, (ord(character), 0x110000)) - 1
    return at >= 0 and ord(character) <= ranges[at][1]


def with_final_breaks(root: Node) -> Node:
    r"""The tree for a text that ends with a line break: each `$` at the end of the pattern becomes FINAL_BREAK.

    Raises:
        RefusedError: UNSUPPORTED, something may follow a `$`.
    """
    match root:
        case At("$"):
            return FINAL_BREAK
        case Sequence(items) if items:
            return Sequence((*map(_require_no_end, items[:-1]), with_final_breaks(items[-1])))
        case Alternation(branches):
            return Alternation(tuple(map(with_final_breaks, branches)))
        case Group(number, body):
            return Group(number, with_final_breaks(body))
        case _:
            return _require_no_end(root)


def _require_no_end(node: Node) -> Node:
    if any(part == At("$") for part in walk(node)):
        raise RefusedError(
            Status.UNSUPPORTED,
            r"A `$` that is not the end of the pattern, in a text that ends with a line break; "
            r"write \Z for the very end of the text, or begin with (?m) for the end of a line.",
        )
    return node
