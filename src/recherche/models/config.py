"""A language model as a value: a tuple of layers between an embedding and a head.

A hybrid is no class of its own: it is a tuple of layers that are not all alike.

    LanguageModelConfig(d_model=64, vocab_size=40, layers=(MambaLayer(),) * 3 + (AttentionLayer(n_heads=4, d_ffn=128),))

Layers are named in files by their mixer: `{"mixer": "mamba", "d_state": 16}`; an unknown name or key is an error.
"""

from collections.abc import Mapping
from typing import Annotated, Any, final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny

from recherche._lookup import lookup
from recherche.mixers import MIXERS
from recherche.mixers.attention import AttentionLayer as AttentionLayer
from recherche.mixers.base import LayerConfig
from recherche.mixers.selective_ssm import MambaLayer as MambaLayer
from recherche.models.embeddings import Embedding, Head, LearnedHead, OrthogonalEmbedding


def layer_config(value: Any) -> Any:
    """A layer config from its mapping; a value that is none is handed on to be judged by pydantic.

    Raises:
        ConfigError: there is no mixer of that name.
    """
    if not isinstance(value, Mapping) or "mixer" not in value:
        return value
    return lookup(MIXERS, value["mixer"], what="mixer").model_validate(value)


@final
class LanguageModelConfig(BaseModel):
    """Everything that decides a model's function but its weights.

    Attributes:
        d_model: width of the residual stream.
        vocab_size: number of tokens.
        layers: from the first to the last.
        embedding: where token vectors come from.
        head: how logits are made.
        norm_eps: added to mean squares before their root is divided by.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    d_model: int = Field(ge=1)
    vocab_size: int = Field(ge=1)
    layers: tuple[Annotated[SerializeAsAny[LayerConfig], BeforeValidator(layer_config)], ...] = Field(min_length=1)
    embedding: Embedding = OrthogonalEmbedding()
    head: Head = LearnedHead()
    norm_eps: float = Field(default=1e-5, gt=0)
