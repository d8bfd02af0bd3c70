"""Problems with a right answer each; `TASKS` is the list of all of them."""

from types import MappingProxyType

from recherche.tasks.base import AbstractTask, Batch, Example, draw_keys
from recherche.tasks.edge_lists import EdgeList, read_edge_list, write_edge_list
from recherche.tasks.graphs import GRAPHS, FirstNames, HardGraphs, NearTrees, RandomNames, RandomTrees, is_tree
from recherche.tasks.is_tree import IsTree
from recherche.tasks.is_tree_traces import PROTOCOLS, Direct, EulerTour, RetrievalTour

TASKS = MappingProxyType({"istree": IsTree})

__all__ = [
    "GRAPHS",
    "PROTOCOLS",
    "TASKS",
    "AbstractTask",
    "Batch",
    "Direct",
    "EdgeList",
    "EulerTour",
    "Example",
    "FirstNames",
    "HardGraphs",
    "IsTree",
    "NearTrees",
    "RandomNames",
    "RandomTrees",
    "RetrievalTour",
    "draw_keys",
    "is_tree",
    "read_edge_list",
    "write_edge_list",
]
