"""c-gram retrieval: given n tokens and a gram of c - 1 tokens that occurs among them, name the token after it.

    prompt  <s> 3 1 4 1 5 1 4       target  1        (c = 3: the gram 1 4 is followed by 1)

If the gram occurs more than once, its first occurrence counts. Lists are drawn around the gram so that the token after
its first occurrence is uniform whatever the gram is; a guesser gains nothing from the question.

    >>> CGram(n=5, c=3).solve({"tokens": [3, 1, 4, 1, 5], "gram": [1, 4]})
    '1'
    >>> CGram(n=5, c=2).solve({"tokens": [3, 1, 4, 1, 5], "gram": [1]})
    '4'

Reference: Wen, Dang & Lyu (2024), Definition 4.4, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass, field, replace
from math import log2
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import UInt64

from recherche import queries
from recherche.queries import Query
from recherche.tasks.base import affordable
from recherche.tasks.grams import draw_grams
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup, SearchAnswer
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import FAILED_ID


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CGram(AbstractNumberTask):
    """The token after a gram.

    Attributes:
        n: tokens of the list, from 1..n_numbers.
        c: length of the gram with its answer.
        n_numbers: how many different tokens there are; n unless given.
    """

    key: ClassVar[str] = "cgram"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType(
        {"direct": DirectAnswer(), "retrieval": SearchAnswer()}
    )
    n: int = 16
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    c: int = 3
    n_numbers: int | None = None

    def __post_init__(self) -> None:
        require(self.c >= 2, f"CGram needs a gram and a token after it, got c = {self.c}; use at least 2.")
        require(self.n >= self.c, f"CGram needs a list of at least c = {self.c} tokens, got n = {self.n}; raise n.")
        require(
            self.num_numbers >= 2, f"CGram needs at least 2 different tokens, got {self.num_numbers}; set n_numbers."
        )

    @property
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""
        return self.n if self.n_numbers is None else self.n_numbers

    @property
    def max_length(self) -> int:
        """`<s>`, the list, the gram and the target."""
        return self.n + self.c + self.protocol.max_target(self.c - 1)

    @property
    def chance(self) -> float:
        """One in n_numbers: the token after the gram is uniform and independent of the gram."""
        return 1 / self.num_numbers

    @property
    def lower_bound_bits(self) -> float:
        """max over k of min(n // c, k^(c-1)) * log2(n_numbers - k).

        Split the tokens into k that make grams and n_numbers - k that are values, and take lists made of blocks: c - 1
        gram tokens, then a value. There is room for n // c blocks and for k^(c-1) different grams, one for each block.
        Every run of gram tokens ends at a value, so a block's gram occurs in its block alone, and it may be asked for.
        Two lists with the same grams and different values give different right answers at some block; so a reader that
        is always right is in different states after each of (n_numbers - k)^blocks lists.
        """
        room = affordable(self).n // self.c  # the choices below are as many
        choices = range(1, self.num_numbers)
        return max(min(room, k ** (self.c - 1)) * log2(self.num_numbers - k) for k in choices)

    def at_size(self, n: int) -> "CGram":
        """Lists of n tokens from the same vocabulary.

        Raises:
            ConfigError: n is smaller than c.
        """
        return replace(self, n=n, n_numbers=self.num_numbers)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """A random list, and a gram of it that has not occurred earlier."""
        tokens, places = draw_grams(keys, self.n, self.num_numbers, self.c - 1, 1)
        ids = tokens + FAILED_ID
        gram = np.take_along_axis(ids, places[:, None] + np.arange(self.c - 1), axis=1)
        answers = np.take_along_axis(ids, places[:, None] + self.c - 1, axis=1)[:, 0]
        return prompts_of(ids, gram), self.protocol.write(Lookup(gram, answers, answers))

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The list and the gram."""
        numbers = [int(token) for token in prompt[1:]]
        return {"tokens": numbers[: -self.c + 1], "gram": numbers[-self.c + 1 :]}

    def solve(self, problem: dict[str, Any]) -> str:
        """The token after the first occurrence of the gram."""
        tokens, gram = problem["tokens"], problem["gram"]
        starts = (i for i in range(len(tokens)) if tokens[i : i + len(gram)] == gram)
        return str(tokens[next(starts) + len(gram)])

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """A gram of c - 1 tokens.

        Raises:
            QueryError: the tokens are not c - 1 numbers.
        """
        if len(tokens) == self.c - 1 and all(map(self.is_number, tokens)):
            return queries.CGram(tokens)
        raise refuse_query(self.key, tokens, form=f"for {self.c - 1} tokens")
