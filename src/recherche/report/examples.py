"""Reads the examples of a cell: graphs, what the model wrote about them, and the searches it made.

Whatever a model wrote is data: nothing here trusts it to be a vertex, a record or well formed.
"""

from pathlib import Path
from typing import final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recherche.errors import InputError
from recherche.report.results import read_json_lines

Range = tuple[int, int]


@final
class Search(BaseModel):
    """One search of a trace.

    Attributes:
        span: what was found, as a range [start, stop) of the context (prompt and trace).
        position: index of <EndSearch> in the generated tokens.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    query: str
    pattern: str | None = None
    status: str = "OK"
    result: tuple[str, ...] = ()
    span: Range | None = None
    position: int = Field(ge=0)


@final
class Example(BaseModel):
    """One line of examples.jsonl: a graph, what the model wrote about it, and the truth."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    edges: tuple[tuple[int, int], ...]
    prompt: tuple[str, ...]
    generated: tuple[str, ...]
    retrieved: tuple[bool, ...] = ()
    searches: tuple[Search, ...] = ()
    answer: str | None = None
    truth: str

    @property
    def right(self) -> bool:
        """Whether the model decided as the truth does."""
        return self.answer == self.truth

    @property
    def context(self) -> tuple[str, ...]:
        """Prompt and trace."""
        return self.prompt + self.generated


def read_examples(cell_folder: Path) -> list[Example]:
    """The examples of a cell; none if it has no file of them.

    Raises:
        InputError: a line is not an example.
    """
    path = cell_folder / "examples.jsonl"
    examples = []
    for number, values in enumerate(read_json_lines(path), start=1):
        try:
            examples.append(Example.model_validate(values))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(
                f"Line {number} of {path} is not an example ({place}: {first['msg']}); delete it."
            ) from error
    return examples
