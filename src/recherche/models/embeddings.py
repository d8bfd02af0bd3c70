"""Token embeddings and heads as values: where a token's vector comes from, and how a vector becomes logits.

A frozen embedding is no parameter: it is a function of its config and the generator, and is stored with the weights.
A head is apart from the embedding; it may be tied to it (logits = E x) or learned.

Reference: Wen, Dang & Lyu (2024), Appendix B (sinusoidal, frozen, tied), https://arxiv.org/abs/2402.18510
"""

import math
from typing import Annotated, Literal, final

import torch
from jaxtyping import Float
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

_LEARNED_STD = 0.02


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@final
class SinusoidalEmbedding(_Value):
    """The paper's: token i has sin(i / 10000^(j/d)) at even j and cos(i / 10000^(j/d)) at odd j + 1; frozen."""

    kind: Literal["sinusoidal"] = "sinusoidal"

    def table(self, vocab_size: int, d_model: int, generator: torch.Generator) -> Float[Tensor, "v d"]:
        """The vector of each token; draws nothing."""
        rates = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        angles = torch.arange(vocab_size, dtype=torch.float64)[:, None] * rates
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model].float()


@final
class OrthogonalEmbedding(_Value):
    """Random rows of norm sqrt(d), orthogonal within each block of d tokens; frozen."""

    kind: Literal["orthogonal"] = "orthogonal"

    def table(self, vocab_size: int, d_model: int, generator: torch.Generator) -> Float[Tensor, "v d"]:
        """The vector of each token."""
        blocks = []
        for _ in range(math.ceil(vocab_size / d_model)):
            q, r = torch.linalg.qr(torch.randn(d_model, d_model, generator=generator, dtype=torch.float64))
            # The signs of R's diagonal make the distribution uniform over rotations and reflections.
            blocks.append(q * r.diagonal().sign())
        return (torch.cat(blocks)[:vocab_size] * math.sqrt(d_model)).float()


@final
class NormalEmbedding(_Value):
    """Independent standard normal entries; frozen."""

    kind: Literal["normal"] = "normal"

    def table(self, vocab_size: int, d_model: int, generator: torch.Generator) -> Float[Tensor, "v d"]:
        """The vector of each token."""
        return torch.randn(vocab_size, d_model, generator=generator)


@final
class LearnedEmbedding(_Value):
    """A parameter with small normal entries at first."""

    kind: Literal["learned"] = "learned"

    def table(self, vocab_size: int, d_model: int, generator: torch.Generator) -> Float[Tensor, "v d"]:
        """The first vector of each token."""
        return torch.randn(vocab_size, d_model, generator=generator) * _LEARNED_STD


@final
class TiedHead(_Value):
    """Logits are inner products with the embedding."""

    kind: Literal["tied"] = "tied"


@final
class LearnedHead(_Value):
    """A matrix of its own, without bias."""

    kind: Literal["learned"] = "learned"


Embedding = Annotated[
    SinusoidalEmbedding | OrthogonalEmbedding | NormalEmbedding | LearnedEmbedding, Field(discriminator="kind")
]
Head = Annotated[TiedHead | LearnedHead, Field(discriminator="kind")]
