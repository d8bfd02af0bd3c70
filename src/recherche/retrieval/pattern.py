r"""Read a pattern in Python's `re` syntax into a tree, without running anything.

The grammar, as Python 3.11 reads it for str patterns:

    pattern       ('(?' flag+ ')')* alternation
    alternation   sequence ('|' sequence)*
    sequence      (item repeat?)*
    item          char | '.' | '^' | '$' | '\' escape | '[' class ']' | '(' kind? alternation ')'
    repeat        ('*' | '+' | '?' | '{' low '}' | '{' low? ',' high? '}') '?'?

A `{` that begins no repeat is a character. What `re` refuses is refused as SYNTAX, so is what it only warns of (`[[`,
`--` in a class); what `re` accepts and we do not is UNSUPPORTED, with its name.

Reference: Python's regular expression syntax, https://docs.python.org/3/library/re.html
"""

import re

from recherche.retrieval.escapes import Escape, read_class_escape, read_escape, read_repeat_range
from recherche.retrieval.limits import Limits
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.syntax import (
    Alternation,
    AnyChar,
    At,
    Char,
    Chars,
    Group,
    Node,
    Repeat,
    Sequence,
    Tree,
    can_be_empty,
)

_SIGNS: dict[str, Node] = {".": AnyChar(), "^": At("^"), "$": At("$")}
_NAMED_APART = {
    "?=": "look-ahead",
    "?!": "look-ahead",
    "?<=": "look-behind",
    "?<!": "look-behind",
    "?>": "an atomic group",
    "?(": "a conditional",
    "?P=": "a back-reference",
}
_MAX_REPEAT = 4294967295
_LEADING_FLAGS = re.compile(r"\(\?([a-z]+)\)")

TOKEN_FLAGS = "s"
TEXT_FLAGS = "ims"
"""Flags that a pattern may begin with: over tokens, which have no lines, and over a text."""


def read_pattern(pattern: str, limits: Limits, *, flags: str = TOKEN_FLAGS) -> Tree:
    r"""The tree of `pattern`, which may begin with some of `flags`.

    Where they hold `m`, there are lines: `\A` and `\Z` are then places apart from `^` and `$`.

    >>> read_pattern("a+", Limits()).root
    Sequence(items=(Repeat(body=Char(text='a'), low=1, high=None, greedy=True),))

    Raises:
        RefusedError: SYNTAX, UNSUPPORTED, or TOO_LARGE by `limits`.
    """
    check_text(pattern, limits)
    return _Reader(pattern, limits, flags).read()


def check_text(pattern: str, limits: Limits) -> None:
    """Refuse a pattern, or another text that is looked for, before it is read.

    Raises:
        RefusedError: TOO_LARGE by `limits.pattern_bytes`, or UNSUPPORTED for a lone surrogate.
    """
    if len(pattern) > limits.pattern_bytes or len(pattern.encode("utf-8", "surrogatepass")) > limits.pattern_bytes:
        raise RefusedError(
            Status.TOO_LARGE,
            f"A pattern may have {limits.pattern_bytes} bytes (Limits.pattern_bytes), got {len(pattern)} characters.",
        )
    if any("\ud800" <= character <= "\udfff" for character in pattern):
        raise RefusedError(Status.UNSUPPORTED, "A lone surrogate can stand in no text; drop it from the pattern.")


def require_group(tree: Tree, pattern: str) -> Tree:
    """The tree, if there is a group that says what it returns.

    Raises:
        RefusedError: NO_GROUP.
    """
    if not tree.n_groups:
        raise RefusedError(
            Status.NO_GROUP,
            f"The pattern {pattern!r} returns nothing; put parentheses around what it shall return.",
        )
    return tree


class _Reader:
    """A cursor on the pattern; each method reads one rule of the grammar."""

    def __init__(self, pattern: str, limits: Limits, flags: str) -> None:
        self._text = pattern
        self._limits = limits
        self._flags = flags
        self._at = 0
        self._depth = 0
        self._n_groups = 0
        self._open_groups: list[int] = []
        self._names: set[str] = set()

    def read(self) -> Tree:
        flags = ""
        while (found := _LEADING_FLAGS.match(self._text, self._at)) and set(found[1]) <= set(self._flags):
            flags += found[1]
            self._at = found.end()
        root = self._alternation()
        if self._at < len(self._text):
            raise self._error("unbalanced parenthesis")
        return Tree(root, self._n_groups, flags)

    def _alternation(self) -> Node:
        branches = [self._sequence()]
        while self._text.startswith("|", self._at):
            self._at += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Alternation(tuple(branches))

    def _sequence(self) -> Node:
        text, items = self._text, list[Node]()
        while self._at < len(text):
            sign = text[self._at]
            if sign in "|)":
                break
            self._at += 1
            if sign in "*+?" or (sign == "{" and self._is_repeat()):
                self._repeat(sign, items)
            elif sign == "(":
                self._group(items)
            elif sign == "[":
                items.append(self._class())
            elif sign == "\\":
                items.append(self._escape())
            else:
                items.append(_SIGNS.get(sign) or Char(sign))
        return Sequence(tuple(items))

    def _is_repeat(self) -> bool:
        return read_repeat_range(self._text, self._at) is not None

    def _repeat(self, sign: str, items: list[Node]) -> None:
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(sign, (0, None))
        if sign == "{":
            found = read_repeat_range(self._text, self._at)
            assert found is not None
            low, high, self._at = found
            if low >= _MAX_REPEAT or (high or 0) >= _MAX_REPEAT:
                raise RefusedError(
                    Status.TOO_LARGE, f"A repeat may count to {_MAX_REPEAT - 1}, got more in {self._text!r}."
                )
            if high is not None and high < low:
                raise self._error("the least number of repeats is greater than the most")
        if not items or isinstance(items[-1], At):
            raise self._error("nothing to repeat")
        if isinstance(items[-1], Repeat):
            raise self._error("repeat of a repeat")
        greedy = not self._text.startswith("?", self._at)
        if greedy and self._text.startswith("+", self._at):
            raise self._unsupported("a possessive repeat")
        self._at += not greedy
        if can_be_empty(items[-1]) and (high is None or high > 1):
            raise self._unsupported("a repeat of something that can be empty")
        items[-1] = Repeat(items[-1], low, high, greedy)

    def _group(self, items: list[Node]) -> None:
        text, begin = self._text, self._at
        if text.startswith("?#", begin):
            end = text.find(")", begin)
            if end < 0:
                raise self._error("unterminated comment")
            self._at = end + 1
            return
        number = self._group_number()
        self._depth += 1
        if self._depth > self._limits.nesting:
            raise RefusedError(
                Status.TOO_LARGE,
                f"Parentheses may be {self._limits.nesting} deep (Limits.nesting), more at position {begin - 1}.",
            )
        body = self._alternation()
        if not text.startswith(")", self._at):
            raise self._error("unterminated group", begin - 1)
        self._at += 1
        self._depth -= 1
        if number is not None:
            self._open_groups.remove(number)
        items.append(Group(number, body))

    def _group_number(self) -> int | None:
        """Read what follows `(`: the number of the group, or None if it does not capture."""
        text, at = self._text, self._at
        if not text.startswith("?", at):
            return self._new_group()
        if text.startswith("?:", at):
            self._at += 2
            return None
        if text.startswith("?P<", at):
            end = text.find(">", at)
            name = text[at + 3 : end] if end >= 0 else ""
            if not name.isidentifier() or name in self._names:
                raise self._error("bad or repeated group name")
            self._names.add(name)
            self._at = end + 1
            return self._new_group()
        for opening, name in _NAMED_APART.items():
            if text.startswith(opening, at):
                raise self._unsupported(name)
        if text[at + 1 : at + 2] in tuple("aiLmsux-"):
            raise self._unsupported(f"a flag other than a leading {', '.join(f'(?{flag})' for flag in self._flags)}")
        raise self._error("unknown extension after (?")

    def _new_group(self) -> int:
        self._n_groups += 1
        if self._n_groups > self._limits.groups:
            raise RefusedError(
                Status.TOO_LARGE,
                f"A pattern may have {self._limits.groups} groups (Limits.groups), got more; use (?:...).",
            )
        self._open_groups.append(self._n_groups)
        return self._n_groups

    def _escape(self) -> Node:
        letter = self._text[self._at : self._at + 1]
        found, self._at = read_escape(self._text, self._at)
        match found:
            case Escape(place=str()) if "m" in self._flags:
                return At(letter)
            case Escape(group=int(number)):
                if number > self._n_groups or number in self._open_groups:
                    raise self._error(f"invalid reference to group {number}")
                raise self._unsupported("a back-reference")
            case Escape(place=str(kind)):
                return At(kind)
            case Escape(category=str(letter)):
                return Chars((), letter)
            case Escape(char=str(char)):
                return Char(char)
        raise AssertionError(found)

    def _class(self) -> Node:
        text, opened = self._text, self._at - 1
        if text.startswith("[", self._at):
            raise self._error("possible nested set, write \\[")
        negated = text.startswith("^", self._at)
        self._at += negated
        ranges: list[tuple[int, int]] = []
        categories = ""
        first = self._at
        while not (text.startswith("]", self._at) and self._at > first):
            if self._at > first and text[self._at : self._at + 2] in ("--", "&&", "~~", "||"):
                raise self._error("possible set operation, write the sign with a backslash")
            low = self._class_item(opened)
            if text.startswith("-", self._at) and self._at + 1 < len(text) and text[self._at + 1] != "]":
                self._at += 1
                if text.startswith("-", self._at):
                    raise self._error("possible set difference, write \\-")
                high = self._class_item(opened)
                if low.char is None or high.char is None or high.char < low.char:
                    raise self._error("bad character range")
                ranges.append((ord(low.char), ord(high.char)))
            elif low.char is not None:
                ranges.append((ord(low.char), ord(low.char)))
            else:
                categories += low.category or ""
        self._at += 1
        if not negated and not categories and len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return Char(chr(ranges[0][0]))
        return Chars(tuple(ranges), categories, negated)

    def _class_item(self, opened: int) -> Escape:
        if self._at >= len(self._text):
            raise self._error("unterminated character set", opened)
        char = self._text[self._at]
        self._at += 1
        if char != "\\":
            return Escape(char=char)
        found, self._at = read_class_escape(self._text, self._at)
        return found

    def _error(self, what: str, at: int | None = None) -> RefusedError:
        place = self._at if at is None else at
        return RefusedError(Status.SYNTAX, f"The pattern cannot be read: {what} at position {place} of {self._text!r}.")

    def _unsupported(self, what: str) -> RefusedError:
        return RefusedError(Status.UNSUPPORTED, f"The pattern uses {what} near position {self._at}; write it without.")
