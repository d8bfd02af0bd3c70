"""What a search can come to: every outcome has a name, beside the text and never in it.

A model sees the tokens that were found or one failure token. Which of the many ways a search can fail has happened is
told out of band, because a `FAILED` that stands in the context is ordinary data and may itself be found.

    found        OK
    not found    NO_MATCH UNSET_GROUP EMPTY_RESULT
    refused      everything else: the search was not run, or its result may not be handed out
"""

from enum import Enum, StrEnum
from typing import NamedTuple, final

from recherche.errors import QueryError


class Status(Enum):
    """The outcome of one search."""

    OK = "a group was found"
    NO_MATCH = "the pattern matches nowhere"
    UNSET_GROUP = "the pattern matches, but the group took no part in the match"
    EMPTY_RESULT = "the group matched the empty text"
    NO_GROUP = "the pattern has no group, so nothing could be returned"
    NOT_TOKEN_ALIGNED = "the group begins or ends inside a token"
    RESULT_TOO_LONG = "the result is longer than the limit"
    RESERVED_RESULT = "the group holds a control token"
    SYNTAX = "the query or pattern cannot be read"
    UNSUPPORTED = "the pattern uses something that no bounded engine can run, or that is left out on purpose"
    TOO_LARGE = "the pattern, or pattern times text, exceeds a limit"
    TIMEOUT = "no answer within the deadline"
    BUSY = "too many searches that ran out of time are still ending"
    NOT_ENCODABLE = "the tokenizer cannot write what was found"
    OVER_BUDGET = "more searches than the generated tokens allow"
    NO_START = "<EndSearch> without an open <StartSearch>"
    NESTED_START = "<StartSearch> inside a query, which starts the query anew"
    UNTERMINATED = "the text ended inside a query"

    @property
    def refused(self) -> bool:
        """Whether the search was turned down, as opposed to having found nothing."""
        return self not in _ANSWERED


_ANSWERED = frozenset({Status.OK, Status.NO_MATCH, Status.UNSET_GROUP, Status.EMPTY_RESULT})

RESERVED = "The result would hold a control token or a hidden query; ask for what stands outside them."


class Tier(StrEnum):
    """Which part of the retriever gave an answer."""

    QUERY = "query"
    TEMPLATE = "template"
    RECOGNISED = "recognised"
    RE2 = "re2"


@final
class RefusedError(QueryError):
    """A search that is turned down, with the name of the reason."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Found(NamedTuple):
    """The outcome of one search.

    Attributes:
        status: what happened, by name.
        tokens: the tokens of the returned group, None unless the status is OK.
        span: where they stand in the whole context (hidden tokens counted), half open; None if nothing was found.
        reason: one sentence for a refusal, else empty.
        tier: which part of the retriever answered; None for a refusal before any did.
        pattern: the regular expression that was asked for, or that the query stands for.
        translated: the pattern in RE2 syntax, where it was needed.
        program_size: number of instructions of the compiled pattern, where it was needed.
    """

    status: Status
    tokens: list[str] | None = None
    span: tuple[int, int] | None = None
    reason: str = ""
    tier: Tier | None = None
    pattern: str | None = None
    translated: str | None = None
    program_size: int | None = None
