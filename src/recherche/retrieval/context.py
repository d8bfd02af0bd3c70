"""A growing text that can be searched.

The text is the tokens joined by one space. Spans that are hidden (the queries a model has written) count in the
positions that are reported, but the searched text has an empty token in their place, which no template crosses.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import final

import numpy as np

from recherche.queries import Query
from recherche.retrieval import templates
from recherche.retrieval.finder import Groups, find
from recherche.retrieval.index import TokenIndex
from recherche.retrieval.lexicon import Lexicon
from recherche.retrieval.limits import Limits, Mode, Paper
from recherche.retrieval.outcome import Found, Refusal, Status, Tier
from recherche.retrieval.plan import Plan, Tally, plan_of
from recherche.vocab import CONTROL_TOKENS

Tokens = Sequence[str] | Sequence[int] | np.ndarray
"""Strings, or ids where the context has a vocabulary."""


@final
class Context:
    """Tokens so far, and what can be found in them. Made by `Retriever.context`."""

    __slots__ = ("_extra", "_index", "_lexicon", "_mode", "limits")

    def __init__(self, lexicon: Lexicon, *, mode: Mode, limits: Limits) -> None:
        self.limits = limits
        self._mode = mode
        self._lexicon = lexicon
        self._index = TokenIndex()
        self._extra: list[int] = []

    def __len__(self) -> int:
        return len(self._index) + (self._extra[-1] if self._extra else 0)

    @property
    def mode(self) -> Mode:
        """The rules for which group is the result, and what a model sees if there is none."""
        return self._mode

    def extend(self, tokens: Tokens) -> None:
        """Add tokens to the searched text: ids if the context has a vocabulary, else strings.

        Raises:
            VocabError: a token or id that the vocabulary does not hold, or that no text can hold.
        """
        self._index.append(self._ids(tokens))

    def hide(self, tokens: Tokens) -> None:
        """Add tokens that no search shall see: the query that a model has just written.

        Raises:
            VocabError: as for `extend`.
        """
        count = len(self._ids(tokens))
        if count:
            self._index.append_hidden()
            self._extra.append((self._extra[-1] if self._extra else 0) + count - 1)

    def fork(self) -> "Context":
        """A context with the same tokens that grows on its own."""
        twin = Context(self._lexicon, mode=self._mode, limits=self.limits)
        twin._index = self._index.fork()
        twin._extra = self._extra.copy()
        return twin

    def query(self, query: Query) -> Found:
        """Answer a structured query from the index."""
        groups = find(plan_of(query), self._index, self._lexicon.ids)
        return self._found(groups, Tier.QUERY, pattern=None)

    def search(self, pattern: str) -> Found:
        """Search for a pattern in Python's `re` syntax; every outcome, a refusal too, is a `Found`."""
        try:
            query = templates.read(pattern)
            if query is not None:
                return self._found(self._find(plan_of(query)), Tier.TEMPLATE, pattern)
            raise Refusal(Status.UNSUPPORTED, "only templates")
        except Refusal as refusal:
            return Found(refusal.status, reason=str(refusal), pattern=pattern)

    def _find(self, plan: Plan | Tally) -> Groups | None:
        return find(plan, self._index, self._lexicon.ids)

    def _ids(self, tokens: Tokens) -> list[int]:
        if self._lexicon.is_open:
            return self._lexicon.encode(tokens)
        return self._lexicon.check(tokens)

    def _found(self, groups: Groups | None, tier: Tier, pattern: str | None) -> Found:
        if groups is None:
            return Found(Status.NO_MATCH, tier=tier, pattern=pattern)
        if isinstance(self._mode, Paper):
            if 1 not in groups:
                return Found(Status.UNSET_GROUP, tier=tier, pattern=pattern)
            begin, end = groups[1]
        else:
            begin, end = groups[min(groups)]
        tokens = [self._lexicon.tokens[self._index.token(place)] for place in range(begin, end)]
        if any(token in CONTROL_TOKENS for token in tokens):
            return Found(Status.RESERVED_RESULT, tier=tier, pattern=pattern)
        return Found(Status.OK, tokens, self._span(begin, end), tier=tier, pattern=pattern)

    def _span(self, begin: int, end: int) -> tuple[int, int]:
        """Places of the searched text as places of the whole context."""
        row = bisect_right(self._index.hidden, begin)
        extra = self._extra[row - 1] if row else 0
        return begin + extra, end + extra
