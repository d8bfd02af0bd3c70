"""Turing machines as files, some that ship with the package, and the ordinary simulator.

The file format stands in `recherche.machines.machine`.
"""

from recherche.machines.library import find_machine, shipped_files, shipped_machines
from recherche.machines.machine import MOVES, STEP_OF_MOVE, Machine, Move, Transition, parse_machine, read_machine
from recherche.machines.simulator import Run, Step, run_machine

__all__ = [
    "MOVES",
    "STEP_OF_MOVE",
    "Machine",
    "Move",
    "Run",
    "Step",
    "Transition",
    "find_machine",
    "parse_machine",
    "read_machine",
    "run_machine",
    "shipped_files",
    "shipped_machines",
]
