"""Tasks of natural text; `TEXT_TASKS` is the table of all of them.

To add one is to add a line: the table is made of the tasks that are imported here.
"""

from recherche._lookup import Registry
from recherche.texts.base import AbstractTextTask as AbstractTextTask
from recherche.texts.base import Ask as Ask
from recherche.texts.base import Say as Say
from recherche.texts.base import TextExample as TextExample
from recherche.texts.base import example_keys as example_keys
from recherche.texts.base import examples as examples
from recherche.texts.cgram import CGramWords as CGramWords
from recherche.texts.copying import CopyingPassage as CopyingPassage
from recherche.texts.counting import CountingWord as CountingWord
from recherche.texts.disjoint import Disjoint as Disjoint
from recherche.texts.grading import grade as grade
from recherche.texts.keyvalue import KeyValue as KeyValue
from recherche.texts.mqar import MQARWords as MQARWords
from recherche.texts.needle import Needle as Needle
from recherche.texts.needle import NeedleMultiKey as NeedleMultiKey
from recherche.texts.needle import NeedleMultiQuery as NeedleMultiQuery
from recherche.texts.needle import NeedleMultiValue as NeedleMultiValue
from recherche.texts.phonebook import Phonebook as Phonebook
from recherche.texts.variables import Variables as Variables

TEXT_TASKS: Registry[AbstractTextTask] = Registry(
    tuple(globals().values()), AbstractTextTask, key=lambda task: task.name, what="text task"
)
"""Every task that is imported above by its name; one's own as `package.module:Class`."""
