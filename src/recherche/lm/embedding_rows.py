"""Rows for new tokens in a language model: as many as are wanted, each the mean of the rows that there were.

A row that is drawn at random is far from all others, so that a model gives a new token a probability of its own before
it was taught anything; at the mean it is as likely as the average token.

Reference: Hewitt (2021), Initializing New Word Embeddings for Pretrained Language Models,
https://nlp.stanford.edu/~johnhew/vocab-expansion.html
"""

import math
from collections.abc import Collection
from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from recherche.errors import ConfigError

_PADDED_TO = 64
"""Sizes of a vocabulary are taken as padded to the largest power of two that divides them, up to this one."""


@final
class EmbeddingRows:
    """The input and output embeddings of a causal language model of transformers.

    Raises:
        ConfigError: the model has none, or they are of different sizes.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        sizes = [len(weight) for weight in self._weights()]
        if len(sizes) < 2 or sizes[0] != sizes[1]:
            raise ConfigError(
                f"{type(model).__name__} has embeddings of {sizes} rows; take a causal language model with as many "
                "rows at its end as at its beginning."
            )
        self._size = sizes[0]

    @torch.no_grad()
    def add(self, *, new: Collection[int], at_least: int, known: Collection[int]) -> None:
        """Make the model as large as asked, and the rows of new tokens, and any added ones, the mean of known ones.

        Args:
            new: ids of tokens that were never trained.
            at_least: how many rows there must be; more if the size was padded to a multiple.
            known: ids of the tokens that there were.
        """
        were_tied = self._are_tied()
        if at_least > self._size:
            self._model.resize_token_embeddings(_padded_like(self._size, at_least), mean_resizing=False)
        if were_tied != self._are_tied():
            raise ConfigError(
                f"{type(self._model).__name__} did not keep its two embeddings tied; add the rows by hand."
            )
        size = len(self._weights()[0])
        trained = torch.tensor(sorted(index for index in known if index < self._size))
        wanted = torch.tensor(sorted({*new, *range(self._size, size)}), dtype=torch.int64)
        bias = getattr(self._model.get_output_embeddings(), "bias", None)
        for rows in self._weights() if bias is None else [*self._weights(), bias]:
            _set_to_mean(rows, wanted.to(rows.device), trained.to(rows.device))

    def _weights(self) -> list[Tensor]:
        ends = (self._model.get_input_embeddings(), self._model.get_output_embeddings())
        return [end.weight for end in ends if end is not None]

    def _are_tied(self) -> bool:
        first, last = self._weights()
        return first is last


def _padded_like(size: int, at_least: int) -> int:
    multiple = math.gcd(size, _PADDED_TO)
    return at_least if multiple < 8 else -(-at_least // multiple) * multiple


def _set_to_mean(
    rows: Float[Tensor, "vocab *width"], wanted: Int[Tensor, " wanted"], trained: Int[Tensor, " trained"]
) -> None:
    """In parts and in double precision: a large vocabulary is not copied, and thousands of small numbers add up."""
    sums = [rows[part].sum(dim=0, dtype=torch.float64) for part in trained.split(8192)]
    rows[wanted] = (torch.stack(sums).sum(dim=0) / len(trained)).to(rows.dtype)
