"""The bridge between a model that generates tokens and the context that it searches.

    OUT     --<StartSearch>-->  QUERY          the tokens that follow are a query
    QUERY   --<EndSearch>---->  OUT            the query runs; its result, or FAILED, is appended as data
    QUERY   --<StartSearch>-->  QUERY          starts the query anew (NESTED_START)
    OUT     --<EndSearch>---->  OUT            there is nothing to run (NO_START): FAILED
    QUERY   --end of text---->                 nothing is appended (UNTERMINATED)

A control token counts by its id and only where the model has generated it: in a prompt and in a result it is data.
The searched text is what stood before the query; the query itself and all earlier ones are hidden, results stay.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable
from typing import NamedTuple, final

from recherche.errors import QueryError
from recherche.queries import Query
from recherche.retrieval import templates
from recherche.retrieval.context import Context
from recherche.retrieval.outcome import Found, RefusedError, Status
from recherche.vocab import END_SEARCH, START_SEARCH, Vocab

SPACE = "<space>"
"""The token that stands for a space in a pattern, since a token cannot be one."""


def read_pattern(tokens: tuple[str, ...]) -> str:
    """The pattern that a model has written: its tokens joined, with `<space>` for a space.

    >>> read_pattern(("(?:^|", "<space>", ")", "7", "<space>", "(", "[^", "<space>", "]+", ")"))
    '(?:^| )7 ([^ ]+)'
    """
    return "".join(" " if token == SPACE else token for token in tokens)


class Search(NamedTuple):
    """One search, or one wrong use of a control token.

    Attributes:
        status: the outcome by name.
        query: the tokens between the control tokens.
        asked: what the query was read as, a structured query or a pattern; None if it could not be read or was never
            run.
        query_span: where the query stands in the whole sequence, control tokens included, half open.
        span: where the result was found in the whole sequence; None if nothing was.
        tokens: what was appended for it, the failure token included.
        result_span: where that stands in the whole sequence.
        reason: one sentence for a refusal, else empty.
    """

    status: Status
    query: tuple[str, ...]
    asked: Query | str | None
    query_span: tuple[int, int]
    span: tuple[int, int] | None
    tokens: tuple[str, ...]
    result_span: tuple[int, int]
    reason: str = ""

    @property
    def pattern(self) -> str | None:
        """The regular expression that was asked for, or that the query stands for."""
        return self.asked if self.asked is None or isinstance(self.asked, str) else templates.render(self.asked)


@final
class SearchSession:
    """Follows one generated text; told each token, it says what must be appended.

    Args:
        context: the prompt; the session adds what is generated and what is found.
        vocab: the vocabulary of the context and of the model.
        read_query: turns the tokens of a query into a query or a pattern; raises QueryError if they are neither.

    Raises:
        VocabError: the vocabulary lacks a control token or a failure token.
    """

    __slots__ = ("_context", "_end", "_generated", "_num_run", "_open", "_read_query", "_start", "_vocab", "searches")

    def __init__(self, context: Context, *, vocab: Vocab, read_query: Callable[[tuple[str, ...]], Query | str]) -> None:
        self.searches: list[Search] = []
        self._context = context
        self._vocab = vocab
        self._read_query = read_query
        self._start = vocab.id_of(START_SEARCH)
        self._end = vocab.id_of(END_SEARCH)
        for status in Status:
            vocab.id_of(context.mode.failure_token(status))
        self._open: list[int] = []
        self._generated = 0
        self._num_run = 0

    @property
    def in_query(self) -> bool:
        """Whether the next token would be part of a query."""
        return bool(self._open)

    def feed(self, token_id: int) -> tuple[int, ...]:
        """Take one generated token; return the ids to append: a result or a failure token, empty if no search ended.

        Raises:
            VocabError: the id lies outside the vocabulary.
        """
        self._generated += 1
        if token_id == self._start:
            if self._open:
                self._note(Status.NESTED_START, self._query())
            self._open.append(token_id)
        elif token_id == self._end:
            if not self._open:
                self._context.extend([token_id])
                return self._fail(Status.NO_START, (len(self._context) - 1, len(self._context)))
            self._open.append(token_id)
            return self._run()
        elif self._open:
            self._open.append(token_id)
        else:
            self._context.extend([token_id])
        return ()

    def finish(self) -> None:
        """Say that the text has ended; a query that is still open is noted as UNTERMINATED and hidden."""
        if self._open:
            self._note(Status.UNTERMINATED, self._query())
            self._context.hide(self._open)
            self._open = []

    def fork(self) -> "SearchSession":
        """A session with the same past that goes on on its own, for beams."""
        twin = SearchSession(self._context.fork(), vocab=self._vocab, read_query=self._read_query)
        twin.searches = self.searches.copy()
        twin._open, twin._generated, twin._num_run = self._open.copy(), self._generated, self._num_run
        return twin

    def _query(self) -> tuple[str, ...]:
        """The tokens after the last <StartSearch>, control tokens left out."""
        begin = len(self._open) - self._open[::-1].index(self._start)
        ids = self._open[begin:]
        return self._vocab.decode(ids[:-1] if ids and ids[-1] == self._end else ids)

    def _run(self) -> tuple[int, ...]:
        tokens = self._query()
        query = None
        try:
            self._check_budget()
            query = self._read_query(tokens)
            found = self._context.search(query) if isinstance(query, str) else self._context.query(query)
        except RefusedError as refusal:
            found = Found(refusal.status, reason=str(refusal))
        except QueryError as error:
            found = Found(Status.SYNTAX, reason=str(error))
        begin = len(self._context)
        self._context.hide(self._open)
        self._open = []
        result = found.tokens if found.tokens is not None else [self._context.mode.failure_token(found.status)]
        return self._append(found, tokens, query, result, begin)

    def _check_budget(self) -> None:
        limits = self._context.limits
        allowed = limits.searches + limits.searches_per_token * self._generated
        if self._num_run >= allowed:
            raise RefusedError(
                Status.OVER_BUDGET,
                f"{self._generated} generated tokens allow {int(allowed)} searches, all of them are used; "
                "raise Limits.searches or Limits.searches_per_token.",
            )

    def _fail(self, status: Status, span: tuple[int, int]) -> tuple[int, ...]:
        token = self._context.mode.failure_token(status)
        return self._append(Found(status), (), None, [token], span[0])

    def _append(
        self, found: Found, query: tuple[str, ...], asked: Query | str | None, result: list[str], begin: int
    ) -> tuple[int, ...]:
        ids = tuple(self._vocab.id_of(token) for token in result)
        end = len(self._context)
        self._context.extend(ids)
        self._num_run += 1
        self.searches.append(
            Search(
                status=found.status,
                query=query,
                asked=asked,
                query_span=(begin, end),
                span=found.span,
                tokens=tuple(result),
                result_span=(end, len(self._context)),
                reason=found.reason,
            )
        )
        return ids

    def _note(self, status: Status, query: tuple[str, ...]) -> None:
        begin = len(self._context)
        end = begin + len(self._open)
        self.searches.append(
            Search(
                status=status,
                query=query,
                asked=None,
                query_span=(begin, end),
                span=None,
                tokens=(),
                result_span=(end, end),
            )
        )
