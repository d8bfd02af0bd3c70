"""One row of a search-while-generating model: follows what it writes, runs its queries, says what must be inserted.

    text    --<search>-->   query      the characters that follow are a query
    query   --</search>-->  text       it runs on all that stood before; what it found is inserted between <found> and
                                       </found>, or <nothing> is
    query   --<search>-->   query      starts the query anew (NESTED_START)
    text    --</search>-->  text       there is nothing to run (NO_START): <nothing>
    query   --end of text-->           nothing is inserted (UNTERMINATED)

A marker counts only where the model has generated it. The searched text is the prompt and what was written, passages
too, without queries and markers, as if they had never been written; positions count them.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, final

from recherche.errors import CodecError, QueryError
from recherche.lm.budget import Budget
from recherche.lm.codec import Codec
from recherche.lm.listener import ends_with_stop
from recherche.lm.markers import Kind, MarkerWatcher
from recherche.retrieval.outcome import Status
from recherche.retrieval.passage import Passage
from recherche.retrieval.text_context import TextContext
from recherche.text_queries import TextQuery, read

_RECENT = 64
"""Tokens before a passage that decide how it is encoded."""


class TextSearch(NamedTuple):
    """One search, or one wrong use of a marker. Positions are characters of prompt and text together, half open.

    Attributes:
        status: the outcome by name.
        query: the characters between the markers, as written.
        asked: what the query was read as; None if it could not be read or was never run.
        query_span: where the query stands, markers included.
        span: where the passage was found; None if nothing was.
        found: the passage; None if nothing was found.
        inserted: what was inserted for it, markers included.
        inserted_span: where that stands.
        reason: one sentence for a refusal, else empty.
        pattern: the regular expression that was asked for, if it was one.
    """

    status: Status
    query: str
    asked: TextQuery | None
    query_span: tuple[int, int]
    span: tuple[int, int] | None
    found: str | None
    inserted: str
    inserted_span: tuple[int, int]
    reason: str = ""
    pattern: str | None = None


class _Outcome(NamedTuple):
    """What a query came to, before it is inserted."""

    passage: Passage
    asked: TextQuery | None


@final
class TextSession:
    """Follows one row; told each token, it says which tokens must be appended.

    Args:
        codec: the tokenizer of the row.
        prompt_ids: the tokens of the prompt.
        watcher: finds the markers that the model generates.
        context: the text of the prompt; the session adds what is written.
        budget: what searches may cost.
        stop_strings: texts that end the row when the model writes them outside a query.

    Raises:
        CodecError: the markers are text that the tokenizer cannot write.
    """

    def __init__(
        self,
        codec: Codec,
        prompt_ids: Sequence[int],
        *,
        watcher: MarkerWatcher,
        context: TextContext,
        budget: Budget,
        stop_strings: Sequence[str] = (),
    ) -> None:
        self.searches: list[TextSearch] = []
        self.has_ended = False
        self._codec, self._stream, self._watcher = codec, codec.stream(prompt_ids), watcher
        self._context, self._budget, self._stops = context, budget, tuple(stop_strings)
        self._prompt_length = len(context)
        self._recent = deque(prompt_ids[-_RECENT:], maxlen=_RECENT)
        self._pieces: list[str] = []
        self._length = 0
        self._answer: list[str] = []
        self._uncommitted = ""  # the end of the text, which the context does not hold yet
        self._fed = 0
        self._query_begin: int | None = None
        self._inserted = 0
        watcher.encode_nothing(codec, prompt_ids[-_RECENT:])
        watcher.encode_found(codec, prompt_ids[-_RECENT:], "")

    @property
    def text(self) -> str:
        """All that follows the prompt."""
        return "".join(self._pieces)

    @property
    def answer_text(self) -> str:
        """What the model has written outside queries; passages and markers left out."""
        open_from = len(self._uncommitted) if self._query_begin is None else self._query_begin - self._committed
        return "".join(self._answer) + self._uncommitted[:open_from]

    @property
    def in_query(self) -> bool:
        """Whether the next token would be part of a query."""
        return self._query_begin is not None

    @property
    def _committed(self) -> int:
        """How many characters after the prompt the context holds."""
        return self._length - len(self._uncommitted)

    def feed(self, token: int) -> Sequence[int]:
        """Hear one generated token; return the ids to append after it, usually none."""
        self._recent.append(token)
        before, fed = self._length, self._fed
        new = self._add(self._stream.push(token))
        self._fed += len(new)
        forced: list[int] = []
        for event in self._watcher.feed(token, new):
            begin, end = before + event.begin - fed, before + event.end - fed
            if event.kind is Kind.START:
                self._start(begin, end)
            else:
                forced += self._end(begin, end)
        if not forced and self._query_begin is None and new:
            self.has_ended = ends_with_stop(self._uncommitted, len(new), self._stops)
        return forced

    def hear_forced(self, token: int) -> None:
        """Hear that a token of an insertion has been appended; its text is known already."""
        self._recent.append(token)
        self._stream.push(token)

    def finish(self) -> None:
        """Hear that the text has ended; a query that is still open is noted as UNTERMINATED."""
        self._add(self._stream.flush())
        if self._query_begin is not None:
            self._note(Status.UNTERMINATED, self._query_begin, self._length)

    def _add(self, new: str) -> str:
        if new:
            self._pieces.append(new)
            self._length += len(new)
            self._uncommitted += new
        return new

    def _start(self, begin: int, end: int) -> None:
        if self._query_begin is not None:
            self._note(Status.NESTED_START, self._query_begin, begin)
        self._query_begin = begin
        self._query_text_begin = end

    def _note(self, status: Status, begin: int, end: int) -> None:
        """A wrong use of a marker that inserts nothing."""
        span, place = self._whole(begin, end), self._whole(end, end)
        written = self._uncommitted[begin - self._committed : end - self._committed]
        self.searches.append(TextSearch(status, written, None, span, None, None, "", place))

    def _end(self, begin: int, end: int) -> list[int]:
        """A query has ended: commit what stands before it, run it, insert what it found."""
        is_open = self._query_begin is not None
        opened = self._query_begin if self._query_begin is not None else begin
        query = self._uncommitted[self._query_text_begin - self._committed : begin - self._committed] if is_open else ""
        self._commit_written(opened)
        outcome = self._run(query) if is_open else _refused(Status.NO_START, None)
        self._context.hide(self._uncommitted[: end - self._committed])
        self._uncommitted = self._uncommitted[end - self._committed :]
        self._query_begin = None
        self._commit_written(self._length)
        return self._insert(outcome, query, (opened, end))

    def _commit_written(self, until: int) -> None:
        """Hand text outside queries to the context."""
        count = until - self._committed
        written, self._uncommitted = self._uncommitted[:count], self._uncommitted[count:]
        self._context.extend(written)
        self._answer.append(written)

    def _run(self, query: str) -> _Outcome:
        asked: TextQuery | None = None
        if len(query) > self._budget.query_characters:
            most = self._budget.query_characters
            return _refused(Status.TOO_LARGE, None, f"A query may have {most} characters (Budget.query_characters).")
        if sum(search.asked is not None for search in self.searches) >= self._budget.searches:
            most = self._budget.searches
            return _refused(Status.OVER_BUDGET, None, f"All {most} searches are used (Budget.searches).")
        try:
            asked = read(query)
        except QueryError as error:
            return _refused(Status.SYNTAX, None, str(error))
        passage = self._context.query(asked)
        if passage.text is not None and len(passage.text) > self._budget.passage_characters:
            most = self._budget.passage_characters
            return _refused(
                Status.RESULT_TOO_LONG, asked, f"A passage may have {most} characters (Budget.passage_characters)."
            )
        if passage.text is not None and self._inserted + len(passage.text) > self._budget.inserted_characters:
            most = self._budget.inserted_characters
            return _refused(
                Status.OVER_BUDGET, asked, f"Searches may insert {most} characters (Budget.inserted_characters)."
            )
        return _Outcome(passage, asked)

    def _insert(self, outcome: _Outcome, query: str, query_span: tuple[int, int]) -> list[int]:
        """The ids of what is inserted, already part of the text and the context."""
        passage = outcome.passage
        markers = self._watcher.markers
        if passage.text is not None:
            try:
                ids = self._watcher.encode_found(self._codec, list(self._recent), passage.text)
            except CodecError as error:
                passage = passage._replace(status=Status.NOT_ENCODABLE, text=None, span=None, reason=str(error))
        if passage.text is None:
            ids = self._watcher.encode_nothing(self._codec, list(self._recent))
            parts = ("", "", markers.nothing)
        else:
            parts = (markers.found, passage.text, markers.close)
            self._inserted += len(passage.text)
        begin = self._length
        inserted = self._add_hidden(parts[0]) + self._add_visible(parts[1]) + self._add_hidden(parts[2])
        self.searches.append(
            TextSearch(
                status=passage.status,
                query=query,
                asked=outcome.asked,
                query_span=self._whole(*query_span),
                span=passage.span,
                found=passage.text,
                inserted=inserted,
                inserted_span=self._whole(begin, self._length),
                reason=passage.reason,
                pattern=passage.pattern,
            )
        )
        return ids

    def _add_hidden(self, text: str) -> str:
        self._context.hide(text)
        self._pieces.append(text)
        self._length += len(text)
        return text

    def _add_visible(self, text: str) -> str:
        self._context.extend(text)
        self._pieces.append(text)
        self._length += len(text)
        return text

    def _whole(self, begin: int, end: int) -> tuple[int, int]:
        """Positions after the prompt as positions of prompt and text together."""
        return self._prompt_length + begin, self._prompt_length + end


def _refused(status: Status, asked: TextQuery | None, reason: str = "") -> _Outcome:
    return _Outcome(Passage(status=status, reason=reason), asked)
