"""Recherche: measure, prove and close the in-context retrieval gap between recurrent models and Transformers."""

from importlib import import_module
from importlib.metadata import version as _version
from typing import Any

_HOME_OF = {
    "RechercheError": "recherche.errors",
}

__all__ = ["RechercheError"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version("recherche")
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'recherche' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
