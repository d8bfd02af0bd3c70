"""Language models of the transformers library that search their own context while they write.

The names below load on first use: markers and limits are wanted where torch is not.
"""

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recherche.lm.budget import Budget as Budget
    from recherche.lm.folder import load_language_model as load_language_model
    from recherche.lm.generation import Searching as Searching
    from recherche.lm.generation import Written as Written
    from recherche.lm.generation import generate_plain as generate_plain
    from recherche.lm.generation import generate_with_search as generate_with_search
    from recherche.lm.generation import searching as searching
    from recherche.lm.markers import Markers as Markers
    from recherche.lm.markers import add_search_tokens as add_search_tokens
    from recherche.lm.prompt_state import PromptState as PromptState
    from recherche.lm.prompt_state import load_prompt_state as load_prompt_state
    from recherche.lm.prompt_state import read_prompt as read_prompt

_HOME_OF = MappingProxyType(
    {
        "Budget": "budget",
        "Markers": "markers",
        "PromptState": "prompt_state",
        "Searching": "generation",
        "Written": "generation",
        "add_search_tokens": "markers",
        "generate_plain": "generation",
        "generate_with_search": "generation",
        "load_language_model": "folder",
        "load_prompt_state": "prompt_state",
        "searching": "generation",
        "read_prompt": "prompt_state",
    }
)


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(f"recherche.lm.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'recherche.lm' has no attribute {name!r}")
