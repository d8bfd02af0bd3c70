"""All constructions by name, in the order of the paper's theorems."""

from collections.abc import Mapping
from types import MappingProxyType

from recherche.constructions import (
    theorem_4_1,
    theorem_4_6,
    theorem_4_7,
    theorem_4_8,
    theorem_5_2,
    theorem_5_3,
    theorem_5_4,
    theorem_5_6,
    theorem_5_7,
    theorem_5_8,
)
from recherche.constructions.construction import Construction

_MODULES = (
    theorem_4_1,
    theorem_4_6,
    theorem_4_7,
    theorem_4_8,
    theorem_5_2,
    theorem_5_3,
    theorem_5_4,
    theorem_5_6,
    theorem_5_7,
    theorem_5_8,
)

CONSTRUCTIONS: Mapping[str, Construction] = MappingProxyType(
    {construction.name: construction for module in _MODULES for construction in module.CONSTRUCTIONS}
)
