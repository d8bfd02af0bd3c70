"""Machine step: given a Turing machine's tape, then a cell and a state, say what the machine does there.

    prompt  <s> [0] [1] [1] [_] 3 (carry)          target  0,L,carry       (cell 3 holds 1)

The machine is the same in all texts, so that its transition table can be learnt; the tape is new in each. The answer is
the whole step, the symbol to write, the move and the next state, as one token: with it the next configuration is
known. Cells are uniform symbols, cell and state are uniform.

A streaming reader meets the head last, so that it must still hold the tape. With search the query is the cell, as in
Index, and what it finds leads to the step: that is how recurrent models simulate machines (Theorem 5.8). A chain of
thought would mean nothing here, since one step has nothing before it but that look; a run of many steps is a chain of
such questions.

    >>> task = MachineStep(n=4, machine="increment")
    >>> task.solve({"tape": ["0", "1", "1", "_"], "cell": 3, "state": "carry"})
    '0,L,carry'
    >>> task.solve({"tape": ["0", "1", "1", "_"], "cell": 1, "state": "right"})
    '0,R,right'

Reference: Turing (1936), On computable numbers, https://doi.org/10.1112/plms/s2-42.1.230;
Wen, Dang & Lyu (2024), Section 5, https://arxiv.org/abs/2402.18510
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import log2
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Int64, UInt64

from recherche import queries
from recherche._lookup import lookup
from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, stream
from recherche.machines import Machine, Transition, shipped_machines
from recherche.queries import Query
from recherche.tasks.number_task import AbstractNumberTask, prompts_of, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup, SearchAnswer
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import FAILED_ID, number_vocab
from recherche.vocab import Vocab


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MachineStep(AbstractNumberTask):
    """What a Turing machine does next.

    Attributes:
        n: cells of the tape.
        machine: a machine of `recherche list machines`.
        n_numbers: how many cells the vocabulary names; n unless given.
    """

    key: ClassVar[str] = "machine-step"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType(
        {"direct": DirectAnswer(), "retrieval": SearchAnswer()}
    )
    n: int = 16
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    machine: str = "anbncn"
    n_numbers: int | None = None

    def __post_init__(self) -> None:
        require(self.n >= 1, f"A machine step needs at least one cell, got n = {self.n}; use 1 for the trivial case.")
        require(
            self.num_numbers >= self.n,
            f"A machine step names {self.n} cells, got n_numbers = {self.num_numbers}; raise it.",
        )
        require(
            len(behaviours(self.table)) >= 2,
            f"Machine {self.machine!r} does the same whatever it reads, so that nothing is asked; take another one.",
        )

    @property
    def table(self) -> Machine:
        """The machine itself."""
        return lookup(shipped_machines(), self.machine, what="machine")

    @property
    def num_numbers(self) -> int:
        """How many cells the vocabulary names."""
        return self.n if self.n_numbers is None else self.n_numbers

    @property
    def vocab(self) -> Vocab:
        """Symbols of texts, cells, symbols of the tape in brackets, states in parentheses, and steps."""
        return vocab_of(self.machine, self.num_numbers)

    @property
    def answer_tokens(self) -> tuple[str, ...]:
        """All steps that the machine can do."""
        return steps_of(self.table)

    @property
    def max_length(self) -> int:
        """`<s>`, the tape, cell and state, and the target."""
        return self.n + 3 + self.protocol.max_target(1)

    @property
    def chance(self) -> float:
        """The mean over the states of the share of symbols that lead to the state's commonest step."""
        machine = self.table
        commonest = sum(
            Counter(machine.transitions[state, symbol] for symbol in machine.symbols).most_common(1)[0][1]
            for state in machine.working
        )
        return float(Fraction(commonest, len(machine.working) * len(machine.symbols)))

    @property
    def lower_bound_bits(self) -> float:
        """n log2(c) where c counts the kinds of symbols that some state tells apart; that is exact.

        After the tape any cell and state may be asked. Two tapes that differ in kind at some cell differ in the step of
        some state there, which may be the one that is asked; so a reader that is always right is in different states
        after them, and there are c^n tapes up to kinds. A table of the kinds needs no more.
        """
        return self.n * log2(len(behaviours(self.table)))

    def at_size(self, n: int) -> "MachineStep":
        """Tapes of n cells for the same machine.

        Raises:
            ConfigError: n is too small, or the vocabulary cannot name n cells.
        """
        return replace(self, n=n, n_numbers=self.num_numbers)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """A uniform tape, a uniform cell and a uniform state."""
        machine, vocab = self.table, self.vocab
        tape_ids = vocab.encode(map(on_tape, machine.symbols))
        state_ids = vocab.encode(map(in_state, machine.working))
        steps = [as_token(machine.transitions[state, read]) for state in machine.working for read in machine.symbols]
        step_ids = vocab.encode(steps).reshape(len(state_ids), len(tape_ids))
        tape, cells, states = draw(keys, self.n, len(tape_ids), len(state_ids))
        read = np.take_along_axis(tape, cells[:, None] - 1, axis=1)[:, 0]
        question = cells[:, None] + FAILED_ID
        answer = Lookup(question, tape_ids[read], step_ids[states, read])
        return prompts_of(tape_ids[tape], question, state_ids[states][:, None]), self.protocol.write(answer)

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The symbols on the tape, the cell and the state."""
        return {"tape": [token[1:-1] for token in prompt[1:-2]], "cell": int(prompt[-2]), "state": prompt[-1][1:-1]}

    def solve(self, problem: dict[str, Any]) -> str:
        """What the transition table says of the state and the symbol on the cell."""
        return as_token(self.table.transitions[problem["state"], problem["tape"][problem["cell"] - 1]])

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """A cell.

        Raises:
            QueryError: the tokens are no cell.
        """
        match tokens:
            case (cell,) if self.is_number(cell):
                return queries.Index(int(cell) + 1)
        raise refuse_query(self.key, tokens, form="for a cell")


def on_tape(symbol: str) -> str:
    """The token of a symbol on the tape."""
    return f"[{symbol}]"


def in_state(state: str) -> str:
    """The token of a state."""
    return f"({state})"


def as_token(step: Transition) -> str:
    """The token of a step.

    >>> as_token(Transition("x", "R", "take_b"))
    'x,R,take_b'
    """
    return f"{step.write},{step.move},{step.state}"


def steps_of(machine: Machine) -> tuple[str, ...]:
    """The tokens of all steps that a machine can do."""
    return tuple(dict.fromkeys(map(as_token, machine.transitions.values())))


@lru_cache(maxsize=64)
def vocab_of(name: str, n_numbers: int) -> Vocab:
    """The tokens of a shipped machine, after those of all tasks on numbers."""
    machine = shipped_machines()[name]
    tape, states = map(on_tape, machine.symbols), map(in_state, machine.working)
    return Vocab((*number_vocab(n_numbers).tokens, *tape, *states, *steps_of(machine)))


def behaviours(machine: Machine) -> set[tuple[Transition, ...]]:
    """What the states do on a symbol, for each symbol; symbols on which all do the same count once."""
    return {tuple(machine.transitions[state, symbol] for state in machine.working) for symbol in machine.symbols}


@compiled
def draw(
    keys: UInt64[np.ndarray, " b"], n: int, n_symbols: int, n_states: int
) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, " b"], Int64[np.ndarray, " b"]]:
    """Symbols of the tape (from 0), a cell (from 1) and a state (from 0) for each key."""
    tape = np.empty((len(keys), n), np.int64)
    cells = np.empty(len(keys), np.int64)
    states = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        for i in range(n):
            tape[row, i] = below(state, n_symbols)
        cells[row] = 1 + below(state, n)
        states[row] = below(state, n_states)
    return tape, cells, states
