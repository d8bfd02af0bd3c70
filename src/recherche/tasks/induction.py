"""Induction heads: recall the token after a marker that is known beforehand, at any distance.

    prompt  <s> 3 1 ~ 4 2 1 ~          target  4

The marker `~` stands once in the text, uniformly, and once more at its end. The loss is taken on the last token alone.
Since the marker never changes, one token's worth of memory is enough whatever n is: recurrent models can solve it, and
the bound below says so. Recall, where the key is met last, is the task that they cannot.

    >>> Induction(n=6).solve({"text": [3, 1, 0, 4, 2, 1]})
    '4'
    >>> Induction(n=3).solve({"text": [0, 2, 1]})
    '2'

Reference: Gu & Dao (2023), Mamba, Section 3.1, https://arxiv.org/abs/2312.00752; the loss is stated because results
depend on it, https://github.com/state-spaces/mamba/issues/298
"""

from dataclasses import dataclass, field, replace
from math import log2
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, stream
from recherche.queries import AR, Query
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup, SearchAnswer
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import EDGE, EDGE_ID, FAILED_ID


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Induction(AbstractNumberTask):
    """The token after a marker (induction heads).

    Attributes:
        n: tokens of the text, the first marker included.
        n_numbers: how many different tokens there are besides the marker.
    """

    key: ClassVar[str] = "induction"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType(
        {"direct": DirectAnswer(), "retrieval": SearchAnswer()}
    )
    n: int = 64
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    n_numbers: int = 16

    def __post_init__(self) -> None:
        require(self.n >= 2, f"Induction needs the marker and a token after it, got n = {self.n}; use at least 2.")
        require(self.n_numbers >= 2, f"Induction needs at least 2 different tokens, got {self.n_numbers}.")

    @property
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""
        return self.n_numbers

    @property
    def max_length(self) -> int:
        """`<s>`, the text, the marker and the target."""
        return self.n + 2 + self.protocol.max_target(1)

    @property
    def chance(self) -> float:
        """One in n_numbers: tokens are uniform and independent."""
        return 1 / self.n_numbers

    @property
    def lower_bound_bits(self) -> float:
        """log2(n_numbers): after the text the state must tell the possible answers apart."""
        return log2(self.n_numbers)

    def at_size(self, n: int) -> "Induction":
        """Texts of n tokens.

        Raises:
            ConfigError: n is too small.
        """
        return replace(self, n=n)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """A text with one marker, and the marker again."""
        text, answers = draw(keys, self.n, self.n_numbers)
        marker = np.full((len(keys), 1), EDGE_ID)
        ids = np.where(text > 0, text + FAILED_ID, EDGE_ID)
        found = answers + FAILED_ID
        return prompts_of(ids, marker), self.protocol.write(Lookup(marker, found, found))

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The text, with 0 for the marker."""
        return {"text": [0 if token == EDGE else int(token) for token in prompt[1:-1]]}

    def solve(self, problem: dict[str, Any]) -> str:
        """The token after the marker."""
        return str(problem["text"][problem["text"].index(0) + 1])

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """The marker.

        Raises:
            QueryError: the tokens are anything else.
        """
        if tokens == (EDGE,):
            return AR(EDGE)
        raise refuse_query(self.key, tokens, form=f"for the marker {EDGE}")


@compiled
def draw(
    keys: UInt64[np.ndarray, " b"], n: int, n_numbers: int
) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, " b"]]:
    """The text, 0 where the marker stands, and the token after it, for each key."""
    text = np.empty((len(keys), n), np.int64)
    answers = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        place = below(state, n - 1)
        for i in range(n):
            text[row, i] = 1 + below(state, n_numbers)
        text[row, place] = 0
        answers[row] = text[row, place + 1]
    return text, answers
