"""Problems with a right answer each; `TASKS` is the table of all of them.

To add one is to add a line: the table is made of the tasks that are imported here.
"""

from recherche._lookup import Registry
from recherche.tasks.averaging import Averaging as Averaging
from recherche.tasks.base import AbstractTask as AbstractTask
from recherche.tasks.base import Batch as Batch
from recherche.tasks.base import Example as Example
from recherche.tasks.base import draw_keys as draw_keys
from recherche.tasks.cgram import CGram as CGram
from recherche.tasks.copying import Copying as Copying
from recherche.tasks.counting import Counting as Counting
from recherche.tasks.edge_lists import EdgeList as EdgeList
from recherche.tasks.edge_lists import read_edge_list as read_edge_list
from recherche.tasks.edge_lists import write_edge_list as write_edge_list
from recherche.tasks.graphs import GRAPHS as GRAPHS
from recherche.tasks.graphs import FirstNames as FirstNames
from recherche.tasks.graphs import HardGraphs as HardGraphs
from recherche.tasks.graphs import NearTrees as NearTrees
from recherche.tasks.graphs import RandomNames as RandomNames
from recherche.tasks.graphs import RandomTrees as RandomTrees
from recherche.tasks.graphs import is_tree as is_tree
from recherche.tasks.index import Index as Index
from recherche.tasks.induction import Induction as Induction
from recherche.tasks.is_tree import IsTree as IsTree
from recherche.tasks.is_tree_traces import PROTOCOLS as PROTOCOLS
from recherche.tasks.is_tree_traces import Direct as Direct
from recherche.tasks.is_tree_traces import EulerTour as EulerTour
from recherche.tasks.is_tree_traces import RetrievalTour as RetrievalTour
from recherche.tasks.machine_step import MachineStep as MachineStep
from recherche.tasks.mqar import MQAR as MQAR
from recherche.tasks.protocols import DirectAnswer as DirectAnswer
from recherche.tasks.protocols import SearchAnswer as SearchAnswer
from recherche.tasks.recall import Recall as Recall
from recherche.tasks.selective_copying import SelectiveCopying as SelectiveCopying

TASKS: Registry[AbstractTask] = Registry(
    tuple(globals().values()), AbstractTask, key=lambda task: task.key, what="task"
)
"""Every task that is imported above by its key; one's own as `package.module:Class`."""
