"""In-context search: what a model asks of its own context, answered exactly and within bounds.

`BatchRetriever` loads on first use, because it brings a compiler with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recherche.queries import AR as AR
from recherche.queries import CGram as CGram
from recherche.queries import Count as Count
from recherche.queries import FirstEdge as FirstEdge
from recherche.queries import Index as Index
from recherche.queries import LastWrite as LastWrite
from recherche.queries import NextEdge as NextEdge
from recherche.queries import Parent as Parent
from recherche.retrieval.context import Context as Context
from recherche.retrieval.folding import Fold as Fold
from recherche.retrieval.limits import TEXT_LIMITS as TEXT_LIMITS
from recherche.retrieval.limits import Limits as Limits
from recherche.retrieval.limits import Paper as Paper
from recherche.retrieval.limits import Standard as Standard
from recherche.retrieval.outcome import Found as Found
from recherche.retrieval.outcome import Status as Status
from recherche.retrieval.outcome import Tier as Tier
from recherche.retrieval.passage import Passage as Passage
from recherche.retrieval.retriever import Retriever as Retriever
from recherche.retrieval.session import Search as Search
from recherche.retrieval.session import SearchSession as SearchSession
from recherche.retrieval.session import read_pattern as read_pattern
from recherche.retrieval.text_context import TextContext as TextContext
from recherche.text_queries import After as After
from recherche.text_queries import Between as Between
from recherche.text_queries import Line as Line
from recherche.text_queries import Pattern as Pattern
from recherche.text_queries import Sentence as Sentence
from recherche.text_queries import Word as Word

if TYPE_CHECKING:
    from recherche.retrieval.batch import BatchRetriever as BatchRetriever


def __getattr__(name: str) -> Any:
    if name == "BatchRetriever":
        return import_module("recherche.retrieval.batch").BatchRetriever
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
