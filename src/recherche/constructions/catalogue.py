"""Everything that `prove` can run, by name, in the order of the paper's theorems.

Reference: Wen, Dang & Lyu (2024), Sections 4 and 5, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Mapping
from types import MappingProxyType

from recherche._lookup import lookup
from recherche.constructions import (
    theorem_4_1,
    theorem_4_6,
    theorem_4_7,
    theorem_4_8,
    theorem_5_1,
    theorem_5_2,
    theorem_5_3,
    theorem_5_4,
    theorem_5_6,
    theorem_5_7,
    theorem_5_8,
)
from recherche.constructions.construction import Construction
from recherche.constructions.turing import Simulation

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

SIMULATIONS: Mapping[str, Simulation] = MappingProxyType(
    {
        "hybrid": theorem_5_8.SIMULATION,
        "rag": theorem_5_4.SIMULATION,
        "cot": theorem_4_1.SIMULATION,
    }
)
"""Ways to run any machine, by what the construction `machine-...` is called."""

ORACLE_RECALL = theorem_5_1.NAME

NAMES: tuple[str, ...] = (*CONSTRUCTIONS, ORACLE_RECALL)


def named(names: list[str]) -> list[str]:
    """The programs that the words stand for: a program, a theorem's number, or `all`.

    Raises:
        ConfigError: a word is none of these.
    """
    theorems: dict[str, list[str]] = {theorem_5_1.THEOREM: [ORACLE_RECALL]}
    for name, construction in CONSTRUCTIONS.items():
        theorems.setdefault(construction.theorem, []).append(name)
    table = {"all": list(NAMES), **theorems, **{name: [name] for name in NAMES}}
    found = [name for word in names for name in lookup(table, word, what="program or theorem")]
    return list(dict.fromkeys(found))
