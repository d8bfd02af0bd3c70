"""Running a Turing machine the ordinary way: the oracle that every simulation by a neural network is held to.

cell     ... -1  0  1  2  3 ...
tape         _   _  a  b  _         the word "ab" starts on cell 1, under the head
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import final

from recherche.errors import InputError
from recherche.machines.machine import STEP_OF_MOVE, Machine, Move


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run.

    Attributes:
        head: the cell under the head before the step.
        state: the state before the step.
        read: the symbol on that cell.
        write: the symbol written there.
        move: where the head goes.
        next_state: the state after the step.
    """

    head: int
    state: str
    read: str
    write: str
    move: Move
    next_state: str


@final
@dataclass(frozen=True, slots=True)
class Run:
    """A run that halted.

    Attributes:
        accepted: whether it halted in an accept state.
        state: the state it halted in.
        tape: what stands on the tape from the first to the last cell that is not blank; "" if all are blank.
    """

    accepted: bool
    state: str
    steps: tuple[Step, ...]
    tape: str

    @property
    def lowest_cell(self) -> int:
        """The leftmost cell under the head before any step; 1 if there was none."""
        return min((step.head for step in self.steps), default=1)

    @property
    def highest_cell(self) -> int:
        """The rightmost cell under the head before any step; 1 if there was none."""
        return max((step.head for step in self.steps), default=1)


def run_machine(machine: Machine, word: str, *, max_steps: int = 1_000_000) -> Run:
    """Run `machine` on `word` until it halts.

    Raises:
        InputError: the word holds a foreign symbol, or the machine has not halted after `max_steps` steps.
    """
    machine.check_word(word)
    tape: defaultdict[int, str] = defaultdict(lambda: machine.blank, enumerate(word, start=1))
    head, state = 1, machine.start
    steps: list[Step] = []
    while state not in machine.halting:
        if len(steps) == max_steps:
            raise InputError(
                f"Machine {machine.name!r} on {word!r} has not halted after {max_steps:,} steps; "
                "raise the bound (--max-steps) or mend the machine."
            )
        read = tape[head]
        transition = machine.transitions[state, read]
        steps.append(Step(head, state, read, transition.write, transition.move, transition.state))
        tape[head], state = transition.write, transition.state
        head += STEP_OF_MOVE[transition.move]
    return Run(state in machine.accept, state, tuple(steps), _visible(tape, machine.blank))


def _visible(tape: dict[int, str], blank: str) -> str:
    written = [cell for cell, symbol in tape.items() if symbol != blank]
    if not written:
        return ""
    return "".join(tape.get(cell, blank) for cell in range(min(written), max(written) + 1))
