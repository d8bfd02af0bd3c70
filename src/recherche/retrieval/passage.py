"""What a search of a text has come to."""

from typing import NamedTuple

from recherche.retrieval.outcome import Status, Tier


class Passage(NamedTuple):
    """The outcome of one search of a text.

    Attributes:
        status: what happened, by name.
        text: what was found, None unless the status is OK.
        span: where it begins and ends in the whole text, hidden stretches counted, in characters; told also of what is
            empty or too long. None if nothing was found.
        byte_span: the same in bytes of UTF-8.
        line: the line on which it begins, from 1.
        column: the character of that line at which it begins, from 1.
        reason: one sentence for a refusal, else empty.
        tier: which part of the retriever answered; None for a refusal before any did.
        pattern: what was asked for, as it is written.
        translated: the pattern in RE2 syntax, where it was needed.
        program_size: number of instructions of the compiled pattern, where it was needed.
    """

    status: Status
    text: str | None = None
    span: tuple[int, int] | None = None
    byte_span: tuple[int, int] | None = None
    line: int | None = None
    column: int | None = None
    reason: str = ""
    tier: Tier | None = None
    pattern: str | None = None
    translated: str | None = None
    program_size: int | None = None
