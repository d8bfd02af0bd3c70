"""Named models: the paper's three sizes of three architectures, and the small ones of the quick recipe.

    0.5M  1M  2M        as in the paper: sinusoidal frozen embedding, tied head, SwiGLU of width 256, Mamba state 16
    quick-cot           4 layers of width 64, for chain of thought and direct answers
    quick-retrieval     2 layers of width 64

The quick sizes have a frozen orthogonal embedding, a learned head, QK-norm, SwiGLU of twice the width, Mamba state 4.

Reference: Wen, Dang & Lyu (2024), Appendix B, https://arxiv.org/abs/2402.18510
"""

from types import MappingProxyType
from typing import NamedTuple, final

from recherche._lookup import lookup
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.base import LayerConfig
from recherche.mixers.selective_ssm import MambaLayer
from recherche.models.config import LanguageModelConfig
from recherche.models.embeddings import (
    Embedding,
    Head,
    LearnedHead,
    OrthogonalEmbedding,
    SinusoidalEmbedding,
    TiedHead,
)

ARCHITECTURES: MappingProxyType[str, str] = MappingProxyType(
    {
        "transformer": "LLaMA: attention layers only",
        "mamba": "Mamba layers only, a state of fixed size",
        "hybrid": "Mamba layers, then one attention layer",
    }
)
"""Every architecture of the paper's experiments, and what it is."""


@final
class _Shape(NamedTuple):
    """Width and numbers of layers of one architecture at one size."""

    d_model: int
    n_mamba: int
    n_attention: int


@final
class _Style(NamedTuple):
    """What all models of a family of sizes share."""

    attention: AttentionLayer
    mamba: MambaLayer
    embedding: Embedding
    head: Head


_PAPER = _Style(AttentionLayer(n_heads=4, d_ffn=256), MambaLayer(d_state=16), SinusoidalEmbedding(), TiedHead())
_QUICK = _Style(
    AttentionLayer(n_heads=4, d_ffn=128, qk_norm=True), MambaLayer(d_state=4), OrthogonalEmbedding(), LearnedHead()
)

_SIZES: MappingProxyType[str, tuple[_Style, dict[str, _Shape]]] = MappingProxyType(
    {
        "0.5M": (
            _PAPER,
            {"transformer": _Shape(64, 0, 8), "mamba": _Shape(64, 16, 0), "hybrid": _Shape(64, 12, 1)},
        ),
        "1M": (
            _PAPER,
            {"transformer": _Shape(64, 0, 16), "mamba": _Shape(128, 10, 0), "hybrid": _Shape(128, 7, 1)},
        ),
        "2M": (
            _PAPER,
            {"transformer": _Shape(128, 0, 12), "mamba": _Shape(128, 18, 0), "hybrid": _Shape(128, 14, 1)},
        ),
        "quick-cot": (
            _QUICK,
            {"transformer": _Shape(64, 0, 4), "mamba": _Shape(64, 4, 0), "hybrid": _Shape(64, 3, 1)},
        ),
        "quick-retrieval": (
            _QUICK,
            {"transformer": _Shape(64, 0, 2), "mamba": _Shape(64, 2, 0), "hybrid": _Shape(64, 1, 1)},
        ),
    }
)

SIZES: tuple[str, ...] = tuple(_SIZES)
"""Every size that has a name."""


def model_config(architecture: str, size: str, *, vocab_size: int) -> LanguageModelConfig:
    """The model of that name.

    Args:
        architecture: a key of `ARCHITECTURES`.
        size: one of `SIZES`.

    Raises:
        ConfigError: there is no architecture or size of that name.

    >>> [layer.mixer for layer in model_config("hybrid", "quick-cot", vocab_size=40).layers]
    ['mamba', 'mamba', 'mamba', 'attention']
    """
    lookup(ARCHITECTURES, architecture, what="architecture")
    style, shapes = lookup(_SIZES, size, what="size")
    shape = shapes[architecture]
    layers: tuple[LayerConfig, ...] = (style.mamba,) * shape.n_mamba + (style.attention,) * shape.n_attention
    return LanguageModelConfig(
        d_model=shape.d_model,
        vocab_size=vocab_size,
        layers=layers,
        embedding=style.embedding,
        head=style.head,
    )
