r"""A growing text with lines, in which passages can be found: by what stands beside a key, or by a pattern.

    >>> context = TextContext("Ada Berg: 555-1234\n")
    >>> context.query(After("Ada Berg:")).text
    '555-1234'
    >>> context.search(r"\d+").span
    (10, 13)

What a model has written as a query is hidden: it is left out of the searched text as if it had never been written, and
the places that are reported count it. Nothing that a model can ask raises an error; every outcome has a name.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

import dataclasses
import math
from collections.abc import Callable
from typing import final

from recherche.retrieval.bordered_text import BorderedText
from recherche.retrieval.engine import Spans, result_of
from recherche.retrieval.folding import Fold, FoldedText
from recherche.retrieval.limits import TEXT_LIMITS, Limits, Mode, Standard
from recherche.retrieval.outcome import RefusedError, Status, Tier
from recherche.retrieval.passage import Passage
from recherche.retrieval.pattern import check_text, require_group
from recherche.retrieval.raw_text import RawText
from recherche.retrieval.searched_bytes import AbstractSearchedBytes, Bytes
from recherche.retrieval.syntax import Tree
from recherche.retrieval.text_answers import EXACT, KeyedText
from recherche.retrieval.text_extents import too_long
from recherche.retrieval.text_index import TextIndex
from recherche.retrieval.text_patterns import TextProgram, compile_for, literal_of, read_text_pattern
from recherche.text_queries import After as After
from recherche.text_queries import Pattern, TextQuery, Which, write


@final
class TextContext:
    """Text so far, and what can be found in it. Made by `Retriever.text`.

    Raises:
        InputError: the text holds a lone surrogate.
    """

    __slots__ = ("_bordered", "_forms", "_index", "_raw", "fold", "limits", "mode")

    def __init__(
        self, text: str = "", *, mode: Mode | None = None, limits: Limits = TEXT_LIMITS, fold: Fold | None = None
    ) -> None:
        self.mode = mode if mode is not None else Standard()
        self.limits = limits
        self.fold = fold if fold is not None else EXACT
        self._raw = RawText()
        self._index = TextIndex()
        self._bordered: BorderedText | None = None
        self._forms: dict[Fold, FoldedText] = {}
        self.extend(text)

    def __len__(self) -> int:
        """Number of characters, those of hidden stretches counted."""
        return self._raw.n_characters

    @property
    def text(self) -> str:
        """The searched text."""
        return self._raw.data.decode()

    def extend(self, text: str) -> None:
        """Add to the searched text.

        Raises:
            InputError: it holds a lone surrogate.
        """
        self._raw.extend(text)

    def hide(self, text: str) -> None:
        """Add text that no search shall see: the query that a model has just written.

        Raises:
            InputError: it holds a lone surrogate.
        """
        self._raw.hide(text)

    def fork(self) -> "TextContext":
        """A context with the same text that grows on its own."""
        twin = TextContext(mode=self.mode, limits=self.limits, fold=self.fold)
        twin._raw, twin._index = self._raw.fork(), self._index.fork()
        twin._forms = {fold: form.fork() for fold, form in self._forms.items()}
        return twin

    def query(self, query: TextQuery) -> Passage:
        """Answer a query; a pattern must have a group, which is the answer."""
        if isinstance(query, Pattern):
            return self._search(query.pattern, _read_with_group)
        asked = write(query)
        try:
            _check_key(asked, self.limits)
            found = self._keyed().answer(query, self.limits)
        except RefusedError as refusal:
            return Passage(refusal.status, reason=str(refusal), tier=Tier.QUERY, pattern=asked)
        return self._passage(found, Passage(Status.OK, tier=Tier.QUERY, pattern=asked))

    def literal(self, text: str, which: Which = 1) -> Passage:
        """The k-th place, or the last one, where exactly these characters stand, be it within a word."""
        try:
            _check_key(text, self.limits)
            if which != "last" and which < 1:
                raise RefusedError(Status.SYNTAX, f"Matches count from 1, got {which}; use 1 for the first.")
        except RefusedError as refusal:
            return Passage(refusal.status, reason=str(refusal), pattern=text)
        return self._literal(text, which, Passage(Status.OK, tier=Tier.QUERY, pattern=text))

    def search(self, pattern: str) -> Passage:
        """The leftmost match of a pattern in Python's `re` syntax: its group, or the whole match if it has none."""
        return self._search(pattern, read_text_pattern)

    def search_all(self, pattern: str, *, most: float | int = math.inf) -> list[Passage]:
        """All matches from left to right, none over another; at least one outcome, which says if there are none.

        Args:
            most: how many matches are enough.

        The deadline is for all together: if it comes first, the last outcome is TIMEOUT.
        """
        try:
            tree = self._read(pattern, read_text_pattern)
            program = self._compile(tree)
        except RefusedError as refusal:
            return [Passage(refusal.status, reason=str(refusal), pattern=pattern)]
        blank = _blank(program, pattern)
        try:
            matches, is_complete = program.all(self.limits, most=most)
        except RefusedError as refusal:
            return [blank._replace(status=refusal.status, reason=str(refusal))]
        late = blank._replace(status=Status.TIMEOUT, reason="The deadline came before the end of the text.")
        found = [self._matched(spans, blank) for spans in matches]
        return found + [late] * (not is_complete) or [blank]

    def _search(self, pattern: str, read: Callable[[str, Limits], Tree]) -> Passage:
        try:
            tree = self._read(pattern, read)
            if literal := literal_of(tree):
                return self._literal(literal, 1, Passage(Status.OK, tier=Tier.RECOGNISED, pattern=pattern))
            program = self._compile(tree)
        except RefusedError as refusal:
            return Passage(refusal.status, reason=str(refusal), pattern=pattern)
        blank = _blank(program, pattern)
        try:
            spans = program.first(self.limits)
        except RefusedError as refusal:
            return blank._replace(status=refusal.status, reason=str(refusal))
        return blank if spans is None else self._matched(spans, blank)

    def _literal(self, text: str, which: Which, blank: Passage) -> Passage:
        return self._passage(self._keyed().literal(text, which), blank)

    def _keyed(self) -> KeyedText:
        return KeyedText(self._raw.data, self._form(self.fold), index=self._index, fold=self.fold)

    def _form(self, fold: Fold) -> AbstractSearchedBytes:
        """The text under a fold, up to date."""
        if fold == EXACT:
            return self._raw
        form = self._forms.setdefault(fold, FoldedText(fold))
        form.grow(self._raw.data)
        return form

    def _read(self, pattern: str, read: Callable[[str, Limits], Tree]) -> Tree:
        tree = read(Fold(form=self.fold.form)(pattern), self.limits)
        return tree if self.fold.case == "keep" else dataclasses.replace(tree, flags=tree.flags + "i")

    def _compile(self, tree: Tree) -> TextProgram:
        # A pattern ignores the case by its flag, because folding the case would change what its classes hold.
        form = self._form(Fold(form=self.fold.form))
        if self._bordered is None:
            self._bordered = BorderedText(form)
        return compile_for(form, self._bordered, tree, limits=self.limits)

    def _matched(self, spans: Spans, blank: Passage) -> Passage:
        """The outcome of a match: a group of it, or the whole where there is none."""
        found = result_of(spans[1:], self.mode) if len(spans) > 1 else spans[0]
        return blank._replace(status=Status.UNSET_GROUP) if found == (-1, -1) else self._passage(found, blank)

    def _passage(self, found: Bytes | None, blank: Passage) -> Passage:
        """The outcome for a stretch of the text."""
        if found is None:
            return blank._replace(status=Status.NO_MATCH)
        begin, end = found
        span, byte_span, line, column = self._raw.place_of(begin, end)
        placed = blank._replace(span=span, byte_span=byte_span, line=line, column=column)
        if begin == end:
            return placed._replace(status=Status.EMPTY_RESULT)
        most = self.limits.result_characters
        text = self._raw.cut(begin, end) if end - begin <= 4 * most else None
        if text is None or len(text) > most:
            refusal = too_long(self.limits)
            return placed._replace(status=refusal.status, reason=str(refusal))
        return placed._replace(status=Status.OK, text=text)


def _blank(program: TextProgram, pattern: str) -> Passage:
    """The outcome of a program that has found nothing."""
    return Passage(
        Status.NO_MATCH,
        tier=Tier.RE2,
        pattern=pattern,
        translated=program.translated,
        program_size=program.program.size,
    )


def _read_with_group(pattern: str, limits: Limits) -> Tree:
    """The tree of a pattern that a model has written, by the paper's rule that a group is what it asks for."""
    return require_group(read_text_pattern(pattern, limits), pattern)


def _check_key(text: str, limits: Limits) -> None:
    """Refuse what cannot be looked for: nothing, too much, or what no text can hold."""
    if not text:
        raise RefusedError(Status.SYNTAX, "A search needs something to look for, got nothing; write what to find.")
    check_text(text, limits)
