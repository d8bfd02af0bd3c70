"""The sequence mixers by name: each entry is the layer config that builds it."""

from types import MappingProxyType

from recherche.mixers.attention import AttentionLayer
from recherche.mixers.base import LayerConfig
from recherche.mixers.selective_ssm import MambaLayer

MIXERS: MappingProxyType[str, type[LayerConfig]] = MappingProxyType(
    {
        "attention": AttentionLayer,
        "mamba": MambaLayer,
    }
)
