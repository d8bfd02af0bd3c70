"""Run a pattern over a text with lines: what Python's `re` would find there, within bounds.

The pattern is read, put into RE2's signs for the characters that the text holds, and run on its bytes.
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple, final

from recherche.retrieval.engine import Program, Spans, all_matches, check_cost, compile_program, run_within
from recherche.retrieval.limits import Limits
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.pattern import TEXT_FLAGS, read_pattern
from recherche.retrieval.raw_text import RawText
from recherche.retrieval.syntax import At, Char, Group, Node, Sequence, Tree, walk
from recherche.retrieval.text_signs import FINAL_BREAK, TextSigns, with_final_breaks
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
    """

    program: Program
    translated: str
    cost: float
    ends: tuple[int, ...]

    def match(self, data: bytearray, begin: int = 0) -> Spans | None:
        """The leftmost match at or after byte `begin`."""
        spans = self.program.match(data, begin)
        if spans is None or not self.ends:
            return spans
        end = max(spans[number][1] for number in self.ends)
        kept = [span for number, span in enumerate(spans) if number not in self.ends]
        return tuple((min(first, end), min(past, end)) for first, past in kept) if end >= 0 else tuple(kept)

    def first(self, raw: RawText, limits: Limits) -> Spans | None:
        """The leftmost match in a text.

        Raises:
            RefusedError: TIMEOUT or BUSY.
        """
        data = raw.data
        return run_within(lambda: self.match(data), cost=self.cost, limits=limits, abandon=raw.share)

    def all(self, raw: RawText, limits: Limits) -> Matches:
        """The matches from left to right, none over another, as many as are found before the deadline.

        Raises:
            RefusedError: TIMEOUT or BUSY.
        """
        data, seconds = raw.data, 0.9 * limits.deadline_ms / 1000
        search = functools.partial(all_matches, functools.partial(self.match, data), data, seconds=seconds)
        return Matches(*run_within(search, cost=math.inf, limits=limits, abandon=raw.share))


def literal_of(tree: Tree) -> str | None:
    """The characters that a pattern asks for, if it asks for nothing but certain characters in a row."""
    if not isinstance(tree.root, Sequence) or "i" in tree.flags or not tree.root.items:
        return None
    signs = [item.text for item in tree.root.items if isinstance(item, Char)]
    return "".join(signs) if len(signs) == len(tree.root.items) else None


def compile_for(raw: RawText, tree: Tree, limits: Limits) -> TextProgram:
    """The program for a pattern over a text as it now is.

    Raises:
        RefusedError: UNSUPPORTED over this text, or TOO_LARGE by `limits`.
    """
    root: Node = tree.root
    if not raw.data and any(node == At("B") for node in walk(root)):
        raise RefusedError(Status.UNSUPPORTED, r"\B in an empty text differs between versions; search a text.")
    if raw.data.endswith(b"\n") and "m" not in tree.flags:
        root = with_final_breaks(root)
    translated = print_tree(root, TextSigns(raw.occurring(), tree.flags), limits)
    program = compile_program(translated, limits.memory_bytes)
    groups = [node for node in walk(root) if node == FINAL_BREAK or (isinstance(node, Group) and node.number)]
    ends = tuple(number for number, node in enumerate(groups, 1) if node == FINAL_BREAK)
    return TextProgram(program, translated, check_cost(program, len(raw.data), limits), ends)
