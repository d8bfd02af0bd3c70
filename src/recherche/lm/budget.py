"""What searches may cost within one answer; `retrieval.Limits` bounds each search by itself.

Each end that a row comes to is named in its result, and none raises: in a batch other rows go on.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from typing import final

from recherche.errors import ConfigError


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Bounds on the searches of one answer.

    Attributes:
        searches: how many searches an answer may make; the next one is answered OVER_BUDGET.
        query_characters: length of a query; a longer one is answered TOO_LARGE where it ends.
        passage_characters: length of what one search may insert; a longer passage is RESULT_TOO_LONG.
        inserted_characters: length of all that the searches of an answer may insert; beyond it, OVER_BUDGET.
    """

    searches: int = 512
    query_characters: int = 1024
    passage_characters: int = 2000
    inserted_characters: int = 50_000

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise ConfigError(f"A budget needs positive numbers, got {name} = {getattr(self, name)}; raise it.")
