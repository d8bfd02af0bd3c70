"""Recherche: measure, prove and close the in-context retrieval gap between recurrent models and Transformers.

The names below load on first use, so that `import recherche` reads no other file of the package, and so that searching
(`recherche.retrieval`) does without torch.
"""

from importlib import import_module
from importlib.metadata import version as _version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recherche.decoding import generate as generate
    from recherche.errors import RechercheError as RechercheError
    from recherche.evaluation import evaluate_generated as evaluate_generated
    from recherche.experiments.config import RunConfig as RunConfig
    from recherche.experiments.presets import PRESETS as PRESETS
    from recherche.experiments.runs import Run as Run
    from recherche.experiments.runs import load_run as load_run
    from recherche.mixers import MIXERS as MIXERS
    from recherche.models.config import AttentionLayer as AttentionLayer
    from recherche.models.config import LanguageModelConfig as LanguageModelConfig
    from recherche.models.config import MambaLayer as MambaLayer
    from recherche.models.language_model import LanguageModel as LanguageModel
    from recherche.retrieval import Retriever as Retriever
    from recherche.tasks import TASKS as TASKS
    from recherche.tasks import Direct as Direct
    from recherche.tasks import EulerTour as EulerTour
    from recherche.tasks import IsTree as IsTree
    from recherche.tasks import RetrievalTour as RetrievalTour
    from recherche.vocab import Vocab as Vocab

_HOME_OF = MappingProxyType(
    {
        "AttentionLayer": "recherche.models.config",
        "Direct": "recherche.tasks",
        "EulerTour": "recherche.tasks",
        "IsTree": "recherche.tasks",
        "LanguageModel": "recherche.models.language_model",
        "LanguageModelConfig": "recherche.models.config",
        "MIXERS": "recherche.mixers",
        "MambaLayer": "recherche.models.config",
        "PRESETS": "recherche.experiments.presets",
        "RechercheError": "recherche.errors",
        "RetrievalTour": "recherche.tasks",
        "Retriever": "recherche.retrieval",
        "Run": "recherche.experiments.runs",
        "RunConfig": "recherche.experiments.config",
        "TASKS": "recherche.tasks",
        "Vocab": "recherche.vocab",
        "evaluate_generated": "recherche.evaluation",
        "generate": "recherche.decoding",
        "load_run": "recherche.experiments.runs",
    }
)

__all__ = [
    "MIXERS",
    "PRESETS",
    "TASKS",
    "AttentionLayer",
    "Direct",
    "EulerTour",
    "IsTree",
    "LanguageModel",
    "LanguageModelConfig",
    "MambaLayer",
    "RechercheError",
    "RetrievalTour",
    "Retriever",
    "Run",
    "RunConfig",
    "Vocab",
    "evaluate_generated",
    "generate",
    "load_run",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version("recherche")
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'recherche' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
