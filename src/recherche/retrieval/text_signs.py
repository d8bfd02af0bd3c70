r"""How signs are spelled for RE2 over a text with lines, so that they mean what they mean in Python.

    `^` `$` with (?m)     `(?m:^)` `(?m:$)`
    `$` without           `\z`; where the text ends with a line break, Python's `$` also stands before that one:
                          `()\n?\z` at the end of the pattern, whose empty group says where the match ends
    `.`                   `.` with (?s), else `[^\n]`
    `k` with (?i)         `[Kk]`, with the Kelvin sign if the text has one
    `\w` `[^a]` ..        ranges over ASCII and the characters that occur
    `\b`                  `\b`; beside letters beyond ASCII over a bordered text (`bordered_text.py`), in which `[aé]`
                          is `(?:a|_é_)`

Reference: RE2 syntax, https://github.com/google/re2/wiki/Syntax
"""

import functools
from bisect import bisect_right
from collections.abc import Iterable
from typing import final

from recherche.retrieval.alphabet import Alphabet
from recherche.retrieval.charset import code_ranges
from recherche.retrieval.ignore_case import same_but_for_case
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.syntax import Alternation, AnyChar, At, Char, Chars, CodeRange, Group, Node, Sequence, walk
from recherche.retrieval.translate import spell_class, spell_code

FINAL_BREAK = At("final")
"""A `$` after which the pattern ends, over a text that ends with a line break."""


_LINE_BREAK = Chars(((10, 10),), "", True)
_EVERY = Chars((), "sS")
_SPELLINGS_KEPT = 1024


def needs_borders(root: Node, alphabet: Alphabet) -> bool:
    """Whether the pattern asks for word borders that RE2 does not see in a text of these characters."""
    return any((node == At("b") and alphabet.words) or (node == At("B") and alphabet.beyond) for node in walk(root))


@final
class TextSigns:
    """Signs of texts of ASCII and an alphabet, under the flags of a pattern.

    Args:
        stand_in: the code of what stands for `_` in a bordered text; None if the text has no borders.
    """

    def __init__(self, alphabet: Alphabet, flags: str, stand_in: int | None) -> None:
        self._alphabet = alphabet
        self._flags = flags
        self._stand_in = stand_in
        self._spelled: dict[Char | Chars, tuple[str, int]] = {}

    def n_ranges(self, node: Chars) -> int:
        """How many code ranges a class has."""
        return self._spell(node)[1]

    def spell(self, node: Char | Chars | AnyChar) -> str:
        """One character."""
        match node:
            case AnyChar() if self._stand_in is not None:
                return self._spell(_EVERY if "s" in self._flags else _LINE_BREAK)[0]
            case AnyChar():
                return "." if "s" in self._flags else r"[^\n]"
            case Char(text) if "i" not in self._flags and self._stand_in is None:
                return spell_code(ord(text))
            case _:
                return self._spell(node)[0]

    def place(self, kind: str) -> str:
        """A place, where RE2 sees it as Python does."""
        if kind in "^$" and "m" in self._flags:
            return f"(?m:{kind})"
        return {"^": r"\A", "A": r"\A", "$": r"\z", "Z": r"\z", "final": r"()\n?\z", "b": r"\b", "B": r"\B"}[kind]

    def _spell(self, node: Char | Chars) -> tuple[str, int]:
        """(the spelling, its number of ranges), kept, because patterns name the same classes many times."""
        if node not in self._spelled:
            if len(self._spelled) >= _SPELLINGS_KEPT:
                self._spelled.clear()
            member = _Membership(node, self._alphabet, self._flags)
            plain = [*_ascii_runs(member.node, "i" in self._flags)]
            beyond = [(character, character in member) for character in self._alphabet.beyond]
            if self._stand_in is None:
                ranges = _joined(plain, beyond)
                self._spelled[node] = spell_class(ranges), len(ranges)
            else:
                self._spelled[node] = self._with_borders(plain, beyond)
        return self._spelled[node]

    def _with_borders(self, plain: list[CodeRange], beyond: list[tuple[str, bool]]) -> tuple[str, int]:
        """The same for a text in which the word characters beyond ASCII, and `_`, have borders."""
        assert self._stand_in is not None
        words = self._alphabet.words
        bare = [part for low, high in plain for part in _without(low, high, {ord("_"), self._stand_in})]
        bare = _joined(bare, [(character, is_in and character not in words) for character, is_in in beyond])
        bordered = _joined([], [(character, is_in and character in words) for character, is_in in beyond])
        has_underscore = any(low <= ord("_") <= high for low, high in plain)
        spelled = [spell_class(bare)] * bool(bare) + [f"_{spell_class(bordered)}_"] * bool(bordered)
        spelled += [f"_{spell_code(self._stand_in)}_"] * has_underscore
        size = len(bare) + len(bordered) + 2 * has_underscore
        return (
            f"(?:{'|'.join(spelled)})" if len(spelled) != 1 or not bare else spelled[0]
        ) if spelled else spell_class([]), size


@functools.lru_cache(maxsize=64)
def signs_for(alphabet: Alphabet, flags: str, stand_in: int | None) -> TextSigns:
    """The signs, kept with what they have spelled; an alphabet is told from others by which object it is."""
    return TextSigns(alphabet, flags, stand_in)


@functools.lru_cache(maxsize=1024)
def _ascii_runs(node: Chars, ignores_case: bool) -> tuple[CodeRange, ...]:
    member = _Membership(node, Alphabet(()), "i" if ignores_case else "")
    return tuple(_joined([], [(character, character in member) for character in map(chr, range(128))]))


def _joined(runs: list[CodeRange], characters: Iterable[tuple[str, bool]]) -> list[CodeRange]:
    """The runs and those that follow: from one occurring member to another, over what does not occur, never over what
    is out."""
    runs = runs.copy()
    is_open = bool(runs) and runs[-1][1] == 127
    for character, is_member in characters:
        if is_member and is_open:
            runs[-1] = runs[-1][0], ord(character)
        elif is_member:
            runs.append((ord(character), ord(character)))
        is_open = is_member
    return runs


def _without(low: int, high: int, codes: set[int]) -> list[CodeRange]:
    """The range without some codes."""
    parts = []
    for code in sorted(codes):
        if low <= code <= high:
            if low < code:
                parts.append((low, code - 1))
            low = code + 1
    return [*parts, (low, high)] if low <= high else parts


class _Membership:
    """The characters that a node matches, of ASCII and an alphabet."""

    def __init__(self, node: Char | Chars, alphabet: Alphabet, flags: str) -> None:
        self.node = node if isinstance(node, Chars) else Chars(((ord(node.text), ord(node.text)),))
        categories = Chars((), self.node.categories)
        self._ignores_case = "i" in flags
        self._explicit = code_ranges(Chars(self.node.ranges), "")
        self._categories = code_ranges(categories, alphabet.beyond) if categories.categories else []

    def __contains__(self, character: str) -> bool:
        same = same_but_for_case(character) if self._ignores_case else (character,)
        held = any(_holds(self._explicit, one) for one in same) or _holds(self._categories, character)
        return held is not self.node.negated


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
