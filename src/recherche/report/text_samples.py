"""Reads the answers of a language model: the text that was asked about, in pieces, what was written, the searches.

Whatever a model wrote is data: nothing here trusts a position to lie within a text.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import final

from pydantic import BaseModel, ConfigDict, Field

from recherche.report.results import read_models

Span = tuple[int, int]
"""Characters [begin, end) of prompt and written text together."""


@final
class TextSearch(BaseModel):
    """One search.

    Attributes:
        query: as it was written.
        asked: as it was understood; None if it was not.
        span: where it was found; None if nothing was.
        found: what was found.
        place: where query, markers and what was inserted stand.
        inserted: where what was inserted stands, markers included.
        reason: a sentence about a refusal.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    query: str
    asked: str | None = None
    status: str
    span: Span | None = None
    found: str | None = None
    place: Span
    inserted: Span
    reason: str = ""


@final
class TextSample(BaseModel):
    """One line of samples.jsonl.

    Attributes:
        prompt: pieces of the prompt, each with the position of its first character.
        prompt_characters: length of the whole prompt.
        text: all that follows it, searches and what they inserted included.
        decided: whether the answer came to its end within the budget.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    question: str = ""
    answers: tuple[str, ...]
    answer: str = ""
    decided: bool = True
    right: bool
    reason: str = ""
    prompt: tuple[tuple[int, str], ...]
    prompt_characters: int = Field(ge=0)
    prompt_tokens: int | None = None
    text: str
    searches: tuple[TextSearch, ...] = ()


def read_samples(path: Path) -> list[TextSample]:
    """The answers of a point; none if there is no file of them.

    Raises:
        InputError: a line is no answer.
    """
    return read_models(path, TextSample, what="an answer", remedy="delete the folder and run `recherche lm eval` again")


def telling(samples: Sequence[TextSample]) -> list[TextSample]:
    """A right and a wrong answer, as far as there are any; the right one first."""
    chosen = [next((sample for sample in samples if sample.right is right), None) for right in (True, False)]
    return [sample for sample in chosen if sample is not None]
