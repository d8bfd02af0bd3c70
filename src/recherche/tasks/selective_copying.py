"""Selective copying: repeat the tokens of a text in order, leaving out the noise between them.

    prompt  <s> - 3 - - 1 4 - <d> 3 1          target  4

Noise is the token `-`, which is no number. The model is asked for every token of the copy; all but the last stand in
the prompt, and count for the loss: the loss is taken on the copied tokens and on nothing else.

    >>> SelectiveCopying(n=7, num_marked=3).solve({"text": [0, 3, 0, 0, 1, 4, 0], "copied": [3, 1]})
    '4'
    >>> SelectiveCopying(n=4, num_marked=1).solve({"text": [0, 0, 2, 0], "copied": []})
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
from recherche.kernels.random import below, permutation, stream
from recherche.queries import Query
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import END_OF_DATA_ID, FAILED_ID, RECORD, RECORD_ID


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectiveCopying(AbstractNumberTask):
    """Repeating the tokens of a noisy text.

    Attributes:
        n: tokens of the text, noise included.
        num_marked: tokens that are no noise.
        n_numbers: how many different tokens there are besides noise.
    """

    key: ClassVar[str] = "selective"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType({"direct": DirectAnswer()})
    n: int = 64
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    num_marked: int = 4
    n_numbers: int = 16

    def __post_init__(self) -> None:
        require(
            1 <= self.num_marked <= self.n,
            f"Selective copying needs 1 <= num_marked <= n, got {self.num_marked} of n = {self.n}; change one of them.",
        )
        require(self.n_numbers >= 2, f"Selective copying needs at least 2 different tokens, got {self.n_numbers}.")

    @property
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""
        return self.n_numbers

    @property
    def max_length(self) -> int:
        """`<s>`, the text, `<d>` and the copy."""
        return self.n + 2 + self.num_marked

    @property
    def chance(self) -> float:
        """One in n_numbers: tokens are uniform and independent."""
        return 1 / self.n_numbers

    @property
    def lower_bound_bits(self) -> float:
        """num_marked * log2(n_numbers), and that is exact: the copy is the right continuation of the text.

        Texts with different copies need different states, and where the noise stands may be forgotten.
        """
        return self.num_marked * log2(self.n_numbers)

    def at_size(self, n: int) -> "SelectiveCopying":
        """Texts of n tokens.

        Raises:
            ConfigError: n is smaller than num_marked.
        """
        return replace(self, n=n)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """A noisy text, and its copy but for the last token."""
        text, copy = draw(keys, self.n, self.num_marked, self.n_numbers)
        text = np.where(text > 0, text + FAILED_ID, RECORD_ID)
        end = np.full((len(keys), 1), END_OF_DATA_ID)
        plain = prompts_of(text, end, copy[:, :-1] + FAILED_ID)
        counted = np.zeros(plain.tokens.shape, np.bool_)
        counted[:, self.n + 2 :] = True
        last = copy[:, -1] + FAILED_ID
        return Prompts(plain.tokens, plain.lengths, counted), self.protocol.write(Lookup(copy[:, :0], last, last))

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The text with 0 for noise, and what has been copied of it."""
        text, copied = prompt[1 : self.n + 1], prompt[self.n + 2 :]
        return {
            "text": [0 if token == RECORD else int(token) for token in text],
            "copied": [int(token) for token in copied],
        }

    def solve(self, problem: dict[str, Any]) -> str:
        """The next token of the copy."""
        return str([number for number in problem["text"] if number > 0][len(problem["copied"])])

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """No query.

        Raises:
            QueryError: always.
        """
        raise refuse_query(self.key, tokens, form="nothing")


@compiled
def draw(
    keys: UInt64[np.ndarray, " b"], n: int, num_marked: int, n_numbers: int
) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, "b m"]]:
    """The text, 0 where noise stands, and its tokens in order, for each key."""
    text = np.zeros((len(keys), n), np.int64)
    copy = np.empty((len(keys), num_marked), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        places = np.sort(permutation(state, n)[:num_marked])
        for i in range(num_marked):
            copy[row, i] = 1 + below(state, n_numbers)
            text[row, places[i]] = copy[row, i]
    return text, copy
