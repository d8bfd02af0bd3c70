"""Copying: repeat a list of tokens, from its start or from where a given gram stands.

    gram = 0    prompt  <s> 3 1 4 <d> 3 1           target  4
    gram = 1    prompt  <s> 3 1 4 1 <d> 3 1 4       target  1     (the gram 3, then its continuation; span = 3)

The model is asked for every token of the copy; all but the last stand in the prompt, and count for the loss. So a model
that is right at every counted token writes the whole copy by itself, and its teacher-forced accuracy per text is the
accuracy of greedy generation. With a gram (prefix lookup) the copy begins after the gram's first occurrence.

    >>> Copying(n=3).solve({"tokens": [3, 1, 4], "copied": [3, 1]})
    '4'
    >>> Copying(n=4, gram=1, span=3).solve({"tokens": [3, 1, 4, 1], "copied": [3, 1, 4]})
    '1'

Reference: Jelassi, Brandfonbrener, Kakade & Malach (2024), Repeat After Me,
https://arxiv.org/abs/2402.01032
"""

from dataclasses import dataclass, field, replace
from math import log2
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import UInt64

from recherche.queries import Query
from recherche.tasks.grams import draw_grams
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import END_OF_DATA_ID, FAILED_ID


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Copying(AbstractNumberTask):
    """Repeating a list, or what follows a gram of it.

    Attributes:
        n: tokens of the list, from 1..n_numbers.
        gram: length of the gram that says where the copy begins; 0 for the start of the list.
        span: how many tokens are copied after the gram; half of the rest of the list unless given, all if gram is 0.
        n_numbers: how many different tokens there are; n unless given.
    """

    key: ClassVar[str] = "copying"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType({"direct": DirectAnswer()})
    n: int = 16
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    gram: int = 0
    span: int | None = None
    n_numbers: int | None = None

    def __post_init__(self) -> None:
        require(self.gram >= 0, f"Copying needs a gram of no or some tokens, got gram = {self.gram}.")
        require(self.num_copied >= 1, f"Copying needs something to copy, got span = {self.num_copied}; use at least 1.")
        require(
            self.gram + self.num_copied <= self.n,
            f"Copying needs room for the gram and its continuation, got {self.gram} + {self.num_copied} tokens in a "
            f"list of {self.n}; lower span or gram, or raise n.",
        )
        require(
            self.gram > 0 or self.num_copied == self.n, "Copying from the start copies the whole list; leave span out."
        )
        require(
            self.num_numbers >= 2, f"Copying needs at least 2 different tokens, got {self.num_numbers}; set n_numbers."
        )

    @property
    def num_copied(self) -> int:
        """How many tokens follow the gram."""
        if self.span is not None:
            return self.span
        return max(1, (self.n - self.gram) // 2) if self.gram else self.n

    @property
    def num_numbers(self) -> int:
        """How many numbers the vocabulary names."""
        return self.n if self.n_numbers is None else self.n_numbers

    @property
    def max_length(self) -> int:
        """`<s>`, the list, `<d>`, the gram and its continuation."""
        return self.n + 2 + self.gram + self.num_copied

    @property
    def chance(self) -> float:
        """One in n_numbers, for the last token: it is uniform and independent of what is copied before it."""
        return 1 / self.num_numbers

    @property
    def lower_bound_bits(self) -> float:
        """n log2(n_numbers) for a copy from the start (exact); else what c-gram retrieval of the same gram needs.

        Always right means: at every token of the copy. From the start: the right continuation of `<s> x <d>` is x
        itself, so the reader is in different states after each of the n_numbers^n lists. With a gram: the blocks of
        `CGram`, a gram and a value each; a block may be asked for if span tokens follow its gram, which leaves out the
        last span - 1 places of the list.
        """
        if self.gram == 0:
            return self.n * log2(self.num_numbers)
        room = (self.n - self.num_copied + 1) // (self.gram + 1)
        return max(min(room, k**self.gram) * log2(self.num_numbers - k) for k in range(1, self.num_numbers))

    def at_size(self, n: int) -> "Copying":
        """Lists of n tokens from the same vocabulary.

        Raises:
            ConfigError: n is too small for gram and span.
        """
        return replace(self, n=n, n_numbers=self.num_numbers)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """A list, the gram, and its continuation but for the last token."""
        tokens, places = draw_grams(keys, self.n, self.num_numbers, self.gram, self.num_copied)
        ids = tokens + FAILED_ID
        copy = np.take_along_axis(ids, places[:, None] + np.arange(self.gram + self.num_copied), axis=1)
        end = np.full((len(keys), 1), END_OF_DATA_ID)
        plain = prompts_of(ids, end, copy[:, :-1])
        counted = np.zeros(plain.tokens.shape, np.bool_)
        counted[:, self.n + 2 + self.gram :] = True
        lookup = Lookup(copy[:, :0], copy[:, -1], copy[:, -1])
        return Prompts(plain.tokens, plain.lengths, counted), self.protocol.write(lookup)

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The list, and what has been copied of it."""
        tokens, copied = prompt[1 : self.n + 1], prompt[self.n + 2 :]
        return {"tokens": [int(token) for token in tokens], "copied": [int(token) for token in copied]}

    def solve(self, problem: dict[str, Any]) -> str:
        """The next token of the copy, which began at the first occurrence of its gram."""
        tokens, copied = problem["tokens"], problem["copied"]
        gram = copied[: self.gram]
        start = next(i for i in range(len(tokens)) if tokens[i : i + len(gram)] == gram)
        return str(tokens[start + len(copied)])

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """No query.

        Raises:
            QueryError: always.
        """
        raise refuse_query(self.key, tokens, form="nothing")
