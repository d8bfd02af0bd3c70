"""A growing text that can be searched.

The text is the tokens joined by one space. Spans that are hidden (the queries a model has written) count in the
positions that are reported, but the searched text has an empty token in their place, which no template crosses.

A search goes through the tiers until one can answer:

    template     the pattern is literally a template's text: the query it stands for is answered from the index
    recognised   the pattern's tree asks for runs of whole tokens: the same
    re2          anything else: translated, and run on the text's bytes
"""

import functools
import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import final

import numpy as np

from recherche.queries import Query
from recherche.retrieval import templates
from recherche.retrieval.bind import BoundPlan, BoundTally, bind
from recherche.retrieval.engine import Program, Spans, check_cost, compile_program, result_of, run_within
from recherche.retrieval.finder import Groups, find
from recherche.retrieval.index import TokenIndex
from recherche.retrieval.lexicon import Lexicon
from recherche.retrieval.limits import Limits, Mode, Paper
from recherche.retrieval.outcome import RESERVED, Found, RefusedError, Status, Tier
from recherche.retrieval.pattern import read_pattern, require_group
from recherche.retrieval.plan import plan_of
from recherche.retrieval.recognise import recognise
from recherche.retrieval.syntax import At, Tree, walk
from recherche.retrieval.text import Text
from recherche.retrieval.translate import translate
from recherche.vocab import CONTROL_TOKENS

Tokens = Sequence[str] | Sequence[int] | np.ndarray
"""Strings, or ids where the context has a vocabulary."""


@final
class Context:
    """Tokens so far, and what can be found in them. Made by `Retriever.context`."""

    __slots__ = ("_extra", "_index", "_lexicon", "_text", "limits", "mode")

    def __init__(self, lexicon: Lexicon, *, mode: Mode, limits: Limits) -> None:
        self.mode = mode
        self.limits = limits
        self._lexicon = lexicon
        self._index = TokenIndex()
        self._extra: list[int] = []
        self._text = Text()

    def __len__(self) -> int:
        return len(self._index) + (self._extra[-1] if self._extra else 0)

    @property
    def text(self) -> str:
        """The searched text."""
        self._text.grow(self._index, self._lexicon)
        return self._text.data.decode()

    def extend(self, tokens: Tokens) -> None:
        """Add tokens to the searched text: ids if the context has a vocabulary, else strings.

        Raises:
            VocabError: a token or id that the vocabulary does not hold, or that no text can hold.
        """
        self._index.append(self._lexicon.ids_of(tokens))

    def hide(self, tokens: Tokens) -> None:
        """Add tokens that no search shall see: the query that a model has just written.

        Raises:
            VocabError: as for `extend`.
        """
        count = len(self._lexicon.ids_of(tokens))
        if count:
            self._index.append_hidden()
            self._extra.append((self._extra[-1] if self._extra else 0) + count - 1)

    def fork(self) -> "Context":
        """A context with the same tokens that grows on its own."""
        twin = Context(self._lexicon, mode=self.mode, limits=self.limits)
        twin._index = self._index.fork()
        twin._extra = self._extra.copy()
        twin._text = self._text.fork()
        return twin

    def query(self, query: Query) -> Found:
        """Answer a structured query from the index."""
        return self._found_tokens(find(self._bound(query), self._index), Tier.QUERY, None)

    def search(self, pattern: str) -> Found:
        """Search for a pattern in Python's `re` syntax; every outcome, a refusal too, is a `Found`."""
        query = templates.read(pattern) if len(pattern) <= self.limits.pattern_bytes else None
        if query is not None:
            return self._found_tokens(find(self._bound(query), self._index), Tier.TEMPLATE, pattern)
        try:
            tree = self._read(pattern)
            plan = recognise(tree, self._lexicon, has_hidden=bool(self._index.hidden))
            if plan is not None:
                groups = find(bind(plan, self._lexicon.ids), self._index)
                return self._found_tokens(groups, Tier.RECOGNISED, pattern)
            return self._run(tree, pattern)
        except RefusedError as refusal:
            return Found(refusal.status, reason=str(refusal), pattern=pattern)

    def search_all(self, pattern: str) -> list[Found]:
        """All matches from left to right, none over another; at least one outcome, which says if there are none.

        The deadline is for all together: if it comes first, the last outcome is TIMEOUT.
        """
        try:
            return self._run_all(self._read(pattern), pattern)
        except RefusedError as refusal:
            return [Found(refusal.status, reason=str(refusal), pattern=pattern)]

    def explain(self, pattern: str) -> Found:
        """The outcome of `search`, always with the translated pattern and its size where RE2 accepts it."""
        found = self.search(pattern)
        try:
            translated = translate(self._read(pattern), self._lexicon.characters, self.limits)
            size = compile_program(translated, self.limits.memory_bytes).size
        except RefusedError:
            return found
        return found._replace(translated=translated, program_size=size)

    def _bound(self, query: Query) -> BoundPlan | BoundTally:
        """The query's plan in token ids, which stays true while the lexicon does not grow."""
        lexicon = self._lexicon
        return bind(plan_of(query), lexicon.ids) if lexicon.is_open else _bind_once(query, lexicon)

    def _read(self, pattern: str) -> Tree:
        return require_group(read_pattern(pattern, self.limits), pattern)

    def _compile(self, tree: Tree) -> tuple[Program, str, float]:
        """(the program, its text, a bound on the cost of one search), with the text brought up to date."""
        self._text.grow(self._index, self._lexicon)
        if not self._text.data and any(node == At("B") for node in walk(tree.root)):
            raise RefusedError(Status.UNSUPPORTED, r"\B in an empty text differs between versions; search a text.")
        translated = translate(tree, self._lexicon.characters, self.limits)
        program = compile_program(translated, self.limits.memory_bytes)
        return program, translated, check_cost(program, len(self._text.data), self.limits)

    def _run(self, tree: Tree, pattern: str) -> Found:
        program, translated, cost = self._compile(tree)
        data = self._text.data
        blank = Found(Status.NO_MATCH, tier=Tier.RE2, pattern=pattern, translated=translated, program_size=program.size)
        try:
            spans = run_within(lambda: program.match(data), cost=cost, limits=self.limits, abandon=self._text.share)
        except RefusedError as refusal:
            return blank._replace(status=refusal.status, reason=str(refusal))
        return blank if spans is None else self._found_bytes(spans, blank)

    def _run_all(self, tree: Tree, pattern: str) -> list[Found]:
        program, translated, _ = self._compile(tree)
        data = self._text.data
        blank = Found(Status.NO_MATCH, tier=Tier.RE2, pattern=pattern, translated=translated, program_size=program.size)
        late = blank._replace(status=Status.TIMEOUT, reason="The deadline came before the end of the text.")
        search = functools.partial(program.match_all, data, seconds=0.9 * self.limits.deadline_ms / 1000)
        try:
            matches, is_complete = run_within(search, cost=math.inf, limits=self.limits, abandon=self._text.share)
        except RefusedError as refusal:
            return [blank._replace(status=refusal.status, reason=str(refusal))]
        found = [self._found_bytes(spans, blank) for spans in matches]
        return found + [late] * (not is_complete) or [blank]

    def _found_tokens(self, groups: Groups | None, tier: Tier, pattern: str | None) -> Found:
        """The outcome of a plan; a captured group is one token."""
        if groups is None:
            return Found(Status.NO_MATCH, None, None, "", tier, pattern)
        number = 1 if isinstance(self.mode, Paper) else min(groups)
        if number not in groups:
            return Found(Status.UNSET_GROUP, None, None, "", tier, pattern)
        place = groups[number][0]
        token = self._lexicon.tokens[self._index.token(place)]
        if token in CONTROL_TOKENS:
            return Found(Status.RESERVED_RESULT, None, None, RESERVED, tier, pattern)
        begin = self._whole(place) if self._extra else place
        return Found(Status.OK, [token], (begin, begin + 1), "", tier, pattern)

    def _found_bytes(self, spans: Spans, blank: Found) -> Found:
        """The outcome of a match in the bytes of the text."""
        outcome = blank._replace
        begin, end = result_of(spans[1:], self.mode)
        if begin < 0:
            return outcome(status=Status.UNSET_GROUP)
        if begin == end:
            return outcome(status=Status.EMPTY_RESULT)
        text = self._text
        if isinstance(self.mode, Paper):
            begin, end = text.without_spaces(begin, end)
            if begin == end:
                return outcome(status=Status.EMPTY_RESULT)
        elif not text.is_border(begin, end):
            return outcome(status=Status.NOT_TOKEN_ALIGNED)
        if text.count_words(begin, end) > self.limits.result_tokens:
            reason = f"A result may have {self.limits.result_tokens} tokens (Limits.result_tokens); ask for less."
            return outcome(status=Status.RESULT_TOO_LONG, reason=reason)
        words = text.words(begin, end)
        if any(not word or word in CONTROL_TOKENS for word in words):
            return outcome(status=Status.RESERVED_RESULT, reason=RESERVED)
        if not all(self._lexicon.knows(word) for word in words):
            return outcome(status=Status.NOT_TOKEN_ALIGNED)
        place = text.place_of(begin)
        span = self._whole(place), self._whole(place + len(words) - 1) + 1
        return outcome(status=Status.OK, tokens=words, span=span)

    def _whole(self, place: int) -> int:
        """A place of the searched text as a place of the whole context."""
        row = bisect_right(self._index.hidden, place)
        return place + (self._extra[row - 1] if row else 0)


@functools.lru_cache(maxsize=1 << 14)
def _bind_once(query: Query, lexicon: Lexicon) -> BoundPlan | BoundTally:
    return bind(plan_of(query), lexicon.ids)
