r"""Recognise that a pattern asks for runs of whole tokens, so that an index can answer it.

    head        `^`   `(?:^| )`   ` `   `^(?:.* )?`   `^(?:T ){n}`
    elements    a literal, T, (literal), (T), or one of several such runs; between them ` `, `\s` or `\s+`
    gap         `(?:.*? )??`, or `(?:T )*?` where no span is hidden
    tail        nothing after T   ` `   ` [^ ]`   `(?: T){m}`   `(?: |$)`   `$`

T is `[^ ]+` or `\S+`. Each form is taken only where it is exact: `\s` where no token holds white space, `\s+` where no
span is hidden, a literal without a border after it where no other token begins with it.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple, final

from recherche.retrieval.lexicon import Lexicon
from recherche.retrieval.plan import Anchor, Piece, Plan, Tail
from recherche.retrieval.syntax import Alternation, AnyChar, At, Char, Chars, Group, Node, Repeat, Tree
from recherche.retrieval.syntax import Sequence as SequenceNode

_MOST_PIECES = 8
_NOT_SPACE = Chars(((32, 32),), "", True)
_NOT_WHITE = (Chars((), "S"), Chars((), "s", True))
_WHITE = (Chars((), "s"), Chars((), "S", True))
_FAR_GAP = Repeat(Group(None, SequenceNode((Repeat(AnyChar(), 0, None, False), Char(" ")))), 0, 1, False)
_UP_TO_LAST = Repeat(Group(None, SequenceNode((Repeat(AnyChar(), 0, None), Char(" ")))), 0, 1)


class _Element(NamedTuple):
    """One token, or `n_tokens` of them: prescribed or any, captured or not."""

    token: str | None
    group: int | None = None
    n_tokens: int = 1


_Run = list[_Element]


class _UnrecognisedError(Exception):
    """The pattern is of no known form."""


def recognise(tree: Tree, lexicon: Lexicon, *, has_hidden: bool) -> Plan | None:
    """The plan that says the same as `tree` on texts of the lexicon's tokens, or None."""
    items: list[Node] = [*tree.root.items] if isinstance(tree.root, SequenceNode) else [tree.root]
    try:
        return _Recogniser(lexicon, has_hidden=has_hidden).plan(items)
    except _UnrecognisedError:
        return None


@final
class _Recogniser:
    """Knows what is exact on the texts at hand."""

    def __init__(self, lexicon: Lexicon, *, has_hidden: bool) -> None:
        self._lexicon = lexicon
        self._has_hidden = has_hidden

    def plan(self, items: list[Node]) -> Plan:
        anchor, skipped, items = self._head(items)
        tail, follow, bordered, items = self._tail(items)
        before: list[_Run] = []
        for place, item in enumerate(items):
            if self._is_gap(item):
                if place < 2 or anchor is Anchor.LAST or not self._is_space(items[place - 1]):
                    raise _UnrecognisedError
                before = [skipped + run for run in self._runs(items[: place - 1])]
                if len({_length(run) for run in before}) > 1:
                    # A later or shorter one could leave room for what a longer one covers.
                    raise _UnrecognisedError
                items, skipped = items[place + 1 :], []
                break
        runs = [skipped + run + follow for run in self._runs(items)]
        if not bordered and not all(self._ends_whole(run[-1]) for run in runs):
            raise _UnrecognisedError
        if max(len(runs), len(before)) > _MOST_PIECES:
            raise _UnrecognisedError
        return Plan(tuple(map(_piece, runs)), anchor, tail, tuple(map(_piece, before)))

    def _head(self, items: list[Node]) -> tuple[Anchor, _Run, list[Node]]:
        match items:
            case [At("^"), first, *rest] if first == _UP_TO_LAST:
                return Anchor.LAST, [], rest
            case [At("^"), Repeat(Group(None, SequenceNode((token, space))), low, high), *rest] if (
                low == high and self._is_any_token(token) and self._is_space(space)
            ):
                return Anchor.START, [_Element(None, None, low)] if low else [], rest
            case [At("^"), *rest]:
                return Anchor.START, [], rest
            case [Group(None, Alternation(branches)), *rest] if self._is_border(branches, "^"):
                return Anchor.FIRST, [], rest
            case [space, *rest] if self._is_space(space):
                return Anchor.INNER, [], rest
        raise _UnrecognisedError

    def _tail(self, items: list[Node]) -> tuple[Tail, _Run, bool, list[Node]]:
        """(what must follow, further tokens, whether the end of the last element is certain, the items before)."""
        match items:
            case [*rest, Group(None, Alternation(branches))] if self._is_border(branches, "$"):
                return Tail.OPEN, [], True, rest
            case [*rest, At("$")]:
                return Tail.END, [], True, rest
            case [*rest, Repeat(Group(None, SequenceNode((space, token))), low, high)] if (
                low == high and low > 0 and self._is_space(space) and self._is_any_token(token)
            ):
                return Tail.OPEN, [_Element(None, None, low)], True, rest
            case [*rest, space, char] if self._is_space(space) and self._is_not_space(char):
                return Tail.OPEN, [_Element(None)], True, rest
            case [*rest, space] if self._is_space(space):
                return Tail.MORE, [], True, rest
        return Tail.OPEN, [], False, items

    def _runs(self, items: Sequence[Node]) -> list[_Run]:
        """The alternative runs of elements that `items` spell, in the order in which they are tried."""
        words: list[list[Node]] = [[]]
        for item in items:
            if self._is_separator(item):
                words.append([])
            else:
                words[-1].append(item)
        choices = [list(self._word(word)) for word in words]
        combinations = 1
        for choice in choices:
            combinations *= len(choice)
        if combinations > _MOST_PIECES:
            raise _UnrecognisedError
        return [[element for run in runs for element in run] for runs in product(*choices)]

    def _word(self, word: list[Node]) -> Iterator[_Run]:
        """The runs that one stretch between separators stands for: an element, or alternative runs."""
        match word:
            case [Group(None, Alternation(branches))]:
                for branch in branches:
                    yield from self._runs(branch.items if isinstance(branch, SequenceNode) else [branch])
            case [Group(int(number), SequenceNode(inner))]:
                yield [_Element(self._token(list(inner)), number)]
            case _:
                yield [_Element(self._token(word))]

    def _token(self, word: list[Node]) -> str | None:
        """The prescribed token that a stretch spells; None for any token."""
        match word:
            case [single] if self._is_any_token(single):
                return None
            case [_, *_] if all(isinstance(item, Char) and item.text != " " for item in word):
                return "".join(item.text for item in word if isinstance(item, Char))
        raise _UnrecognisedError

    def _ends_whole(self, element: _Element) -> bool:
        return element.token is None or self._lexicon.starts_only_itself(element.token)

    def _is_space(self, node: Node) -> bool:
        return node == Char(" ") or (node in _WHITE and not self._lexicon.has_whitespace)

    def _is_separator(self, node: Node) -> bool:
        if isinstance(node, Repeat) and (node.low, node.high) == (1, None):
            return not self._has_hidden and self._is_space(node.body)
        return self._is_space(node)

    def _is_not_space(self, node: Node) -> bool:
        return node == _NOT_SPACE or (node in _NOT_WHITE and not self._lexicon.has_whitespace)

    def _is_any_token(self, node: Node) -> bool:
        match node:
            case Repeat(body, 1, None, True):
                return self._is_not_space(body)
        return False

    def _is_border(self, branches: tuple[Node, ...], place: str) -> bool:
        """`^| ` or `$| `, in either order."""
        match branches:
            case (SequenceNode((one,)), SequenceNode((other,))):
                return (one == At(place) and self._is_space(other)) or (other == At(place) and self._is_space(one))
        return False

    def _is_gap(self, node: Node) -> bool:
        match node:
            case Repeat(Group(None, SequenceNode((token, space))), 0, None, False):
                return not self._has_hidden and self._is_any_token(token) and self._is_space(space)
        return node == _FAR_GAP


def _length(run: _Run) -> int:
    return sum(element.n_tokens for element in run)


def _piece(run: _Run) -> Piece:
    given, groups, offset = [], [], 0
    for element in run:
        if element.token is not None:
            given.append((offset, element.token))
        if element.group is not None:
            groups.append((element.group, offset))
        offset += element.n_tokens
    return Piece(offset, tuple(given), tuple(sorted(groups)))
