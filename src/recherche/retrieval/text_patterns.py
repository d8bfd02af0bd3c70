"""Run a pattern over a text with lines: what Python's `re` would find there, within bounds.

The pattern is read, put into RE2's signs for the characters that the text holds, and run on its bytes.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

from recherche.retrieval.bordered_text import BorderedText
from recherche.retrieval.engine import Program, Spans, all_matches, check_cost, compile_program, run_within
from recherche.retrieval.limits import Limits
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.pattern import TEXT_FLAGS, read_pattern
from recherche.retrieval.searched_bytes import AbstractSearchedBytes
from recherche.retrieval.syntax import At, Char, Group, Node, Sequence, Tree, walk
from recherche.retrieval.text_signs import FINAL_BREAK, needs_borders, signs_for, with_final_breaks
from recherche.retrieval.translate import print_tree


def read_text_pattern(pattern: str, limits: Limits) -> Tree:
    """The tree of a pattern over a text with lines.

    Raises:
        RefusedError: SYNTAX, UNSUPPORTED, or TOO_LARGE by `limits`.
    """
    return read_pattern(pattern, limits, flags=TEXT_FLAGS)


class Matches(NamedTuple):
    """Byte spans of matches and their groups, and whether the end of the text was reached in time."""

    spans: list[Spans]
    is_complete: bool


@final
@dataclass(frozen=True, slots=True)
class TextProgram:
    """A pattern compiled for a text.

    Attributes:
        program: what RE2 runs.
        translated: its text.
        cost: a bound on the cost of one search.
        ends: which groups of the program, counted from 1, only say where the match ends.
        searched: the bytes that it runs on.
    """

    program: Program
    translated: str
    cost: float
    ends: tuple[int, ...]
    searched: AbstractSearchedBytes

    def first(self, limits: Limits) -> Spans | None:
        """The leftmost match in the text, as bytes of the text itself.

        Raises:
            RefusedError: TIMEOUT or BUSY.
        """
        search = functools.partial(self._matcher(), 0)
        spans = run_within(search, cost=self.cost, limits=limits, abandon=self.searched.share)
        return None if spans is None else self._in_source(spans)

    def all(self, limits: Limits, *, most: float | int) -> Matches:
        """The matches from left to right, none over another, up to `most` and as many as are found by the deadline.

        Raises:
            RefusedError: TIMEOUT or BUSY.
        """
        seconds = 0.9 * limits.deadline_ms / 1000
        search = functools.partial(all_matches, self._matcher(), self.searched.data, seconds=seconds, most=most)
        found, is_complete = run_within(search, cost=math.inf, limits=limits, abandon=self.searched.share)
        return Matches(list(map(self._in_source, found)), is_complete)

    def _matcher(self) -> Callable[[int], Spans | None]:
        """What finds the leftmost match at or after a byte, in the bytes as they now are."""
        data = self.searched.data
        match = functools.partial(self.program.match, data)
        if isinstance(self.searched, BorderedText):
            match = functools.partial(_match_between_characters, match, self.searched.inside())
        return functools.partial(_match_with_end, match, self.ends) if self.ends else match

    def _in_source(self, spans: Spans) -> Spans:
        source = self.searched.source
        return tuple(span if span == (-1, -1) else source(*span) for span in spans)


def _match_between_characters(
    match: Callable[[int], Spans | None], is_inside: Callable[[int], bool], begin: int
) -> Spans | None:
    """The leftmost match that does not begin inside of a character, where only an empty one can."""
    spans = match(begin)
    while spans is not None and is_inside(spans[0][0]):
        spans = match(spans[0][0] + 1)
    return spans


def _match_with_end(match: Callable[[int], Spans | None], ends: tuple[int, ...], begin: int) -> Spans | None:
    """The match without the groups that say where it ends, and cut there."""
    spans = match(begin)
    if spans is None:
        return None
    end = max(spans[number][1] for number in ends)
    kept = [span for number, span in enumerate(spans) if number not in ends]
    return tuple((min(first, end), min(past, end)) for first, past in kept) if end >= 0 else tuple(kept)


def literal_of(tree: Tree) -> str | None:
    """The characters that a pattern asks for, if it asks for nothing but certain characters in a row."""
    if not isinstance(tree.root, Sequence) or "i" in tree.flags or not tree.root.items:
        return None
    signs = [item.text for item in tree.root.items if isinstance(item, Char)]
    return "".join(signs) if len(signs) == len(tree.root.items) else None


def compile_for(text: AbstractSearchedBytes, bordered: BorderedText, tree: Tree, *, limits: Limits) -> TextProgram:
    """The program for a pattern over a text as it now is.

    Args:
        bordered: the same text with borders, which is brought up to date if the pattern needs it.

    Raises:
        RefusedError: UNSUPPORTED over this text, or TOO_LARGE by `limits`.
    """
    root: Node = tree.root
    if not text.data and any(node == At("B") for node in walk(root)):
        raise RefusedError(Status.UNSUPPORTED, r"\B in an empty text differs between versions; search a text.")
    if text.data.endswith(b"\n") and "m" not in tree.flags:
        root = with_final_breaks(root)
    alphabet = text.alphabet()
    searched, stand_in = text, None
    if needs_borders(root, alphabet):
        bordered.grow()
        searched, stand_in = bordered, bordered.stand_in
    translated = print_tree(root, signs_for(alphabet, tree.flags, stand_in), limits)
    program = compile_program(translated, limits.memory_bytes)
    groups = [node for node in walk(root) if node == FINAL_BREAK or (isinstance(node, Group) and node.number)]
    ends = tuple(number for number, node in enumerate(groups, 1) if node == FINAL_BREAK)
    return TextProgram(program, translated, check_cost(program, len(searched.data), limits), ends, searched)
