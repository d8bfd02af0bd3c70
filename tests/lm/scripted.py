"""A listener that forces given tokens at given moments, and rows of random tokens for it."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


class Scripted:
    """Hears a row and, after the k-th sampled token, has the tokens of `script[k]` forced."""

    searches = ()
    text = answer_text = ""

    def __init__(self, script: Mapping[int, Sequence[int]], *, ends_at: int | None = None) -> None:
        self.script, self.ends_at = script, ends_at
        self.heard: list[int] = []
        self.num_sampled = 0

    @property
    def has_ended(self) -> bool:
        return self.num_sampled == self.ends_at

    def feed(self, token: int) -> Sequence[int]:
        self.heard.append(token)
        self.num_sampled += 1
        return self.script.get(self.num_sampled, ())

    def hear_forced(self, token: int) -> None:
        self.heard.append(token)

    def finish(self) -> None:
        """Nothing is held back."""


LENGTHS = (12, 5, 9)
SCRIPTS: tuple[dict[int, list[int]], ...] = (
    {3: [7, 8, 9, 10, 11], 9: [20] * 3},
    {1: [30, 31], 5: [12, 13, 14, 15]},
    {},
)


def random_rows(lengths: Sequence[int] = LENGTHS, *, vocab_size: int = 50) -> list[Tensor]:
    """Rows of random tokens."""
    generator = torch.Generator().manual_seed(1)
    return [torch.randint(4, vocab_size, (length,), generator=generator) for length in lengths]


def padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Rows padded on the left with an ordinary token, and their mask."""
    longest = max(map(len, rows))
    tokens = torch.stack([torch.cat([torch.full((longest - len(row),), 49), row]) for row in rows])
    mask = torch.stack([torch.cat([torch.zeros(longest - len(row)), torch.ones(len(row))]) for row in rows]).long()
    return tokens, mask
