"""Turing machines as text: the tokens for symbols, states and moves, and the transition table over registers.

    symbols   '_' 'a' 'b'      in quotes, so that the symbol 1 is not the number 1
    states    @first @back     moves   L R S     cells   numbers

A register holds a symbol, state or move as its code: the place in the machine's list, counted from 0. The blank
and the start state come first, so that "nothing written" is the blank and "no state yet" is the start state.

Reference: Wen, Dang & Lyu (2024), Appendix C.5 and C.11, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Case, Sizes, Suite
from recherche.constructions.program import Program
from recherche.errors import InputError
from recherche.machines import MOVES, Machine, Run, run_machine, shipped_machines
from recherche.vocab import NO, YES

LARGEST_VOCABULARY = 1 << 18
"""Number tokens that a model may have; suites leave out runs that need more."""


def symbol_token(symbol: str) -> str:
    """The token of a tape symbol."""
    return f"'{symbol}'"


def state_token(state: str) -> str:
    """The token of a state."""
    return f"@{state}"


@final
@dataclass(frozen=True, slots=True)
class Alphabets:
    """The tokens of a machine."""

    machine: Machine

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbol tokens by code."""
        return tuple(map(symbol_token, self.machine.symbols))

    @property
    def states(self) -> tuple[str, ...]:
        """State tokens by code."""
        return tuple(map(state_token, self.machine.states))

    @property
    def working(self) -> tuple[str, ...]:
        """Tokens of the states that go on."""
        return tuple(map(state_token, self.machine.working))

    @property
    def accept(self) -> tuple[str, ...]:
        """Tokens of the accept states."""
        return tuple(map(state_token, self.machine.accept))

    @property
    def reject(self) -> tuple[str, ...]:
        """Tokens of the reject states."""
        return tuple(map(state_token, self.machine.reject))


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """Codes of what a transition writes, where it moves and the state it goes to."""

    write: Affine
    move: Affine
    state: Affine


def transition_table(
    p: Program, machine: Machine, state: Affine, reads: dict[str, Affine], *, when: tuple[Affine, ...]
) -> Outcome:
    """The transition for a state code and one flag for each symbol read; all codes 0 unless `when` holds.

    Each entry of the table is one unit of a feed-forward layer: its gate fires for its state and its symbol.
    """
    is_state = state_flags(p, machine, state)
    entries = [((*when, is_state[q], reads[s]), change) for (q, s), change in machine.transitions.items()]
    constant = Affine.of
    return Outcome(
        write=p.choose(*((f, constant(machine.symbols.index(c.write))) for f, c in entries), name="write"),
        move=p.choose(*((f, constant(MOVES.index(c.move))) for f, c in entries), name="move"),
        state=p.choose(*((f, constant(machine.states.index(c.state))) for f, c in entries), name="next state"),
    )


def state_flags(p: Program, machine: Machine, state: Affine) -> dict[str, Affine]:
    """For each working state, whether a state code is its."""
    return {q: p.is_zero(state - machine.states.index(q), name=f"in {q}") for q in machine.working}


def emit_verdict(p: Program, alphabets: Alphabets) -> None:
    """At a halting state, say YES or NO."""
    for tokens, verdict in ((alphabets.accept, YES), (alphabets.reject, NO)):
        if tokens:
            p.emit(verdict, when=p.one_of(tokens))


def verdict(run: Run) -> str:
    """YES if the run accepted."""
    return YES if run.accepted else NO


def palindromes_and_carries(n: int) -> tuple[tuple[str, str], ...]:
    """A palindrome of n letters, about n^2 / 2 steps, and a carry through n bits, about 2n steps."""
    half = ("ab" * n)[: n // 2]
    return (("palindrome", half + half[::-1]), ("increment", "1" * n))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A way for a network to run any machine.

    Attributes:
        program: the program for a machine, a capacity and a room.
        case: the prompt and the reference text of a run, for a room.
        room: what the runs of some words need: cells left of the word, or cells in all.
        capacity: the least capacity that a room needs.
        long_runs: machines and words of size n whose runs are long, the longest first.
    """

    program: Callable[[Machine, int, int], Program]
    case: Callable[[Machine, str, Run, int], Case]
    room: Callable[[Sequence[str], Sequence[Run]], int]
    capacity: Callable[[Machine, int], int] = lambda machine, room: room
    long_runs: Callable[[int], Sequence[tuple[str, str]]] = palindromes_and_carries

    def fits(self, machine: Machine, word: str) -> bool:
        """Whether the run needs no number above `LARGEST_VOCABULARY`."""
        return self.capacity(machine, self.room([word], [run_machine(machine, word)])) <= LARGEST_VOCABULARY

    def suite(self, machine: Machine, words: Sequence[str], *, exhaustive: bool, max_steps: int = 1_000_000) -> Suite:
        """The program for one machine and the words that it is to read."""
        runs = [run_machine(machine, word, max_steps=max_steps) for word in words]
        room = self.room(words, runs)
        self._check_capacity(machine, room)
        cases = [self.case(machine, word, run, room) for word, run in zip(words, runs, strict=True)]
        capacity = max(self.capacity(machine, room), *(len(case.text) for case in cases))
        program = self.program(machine, capacity, room)
        return Suite(program=program, cases=cases, n=max(map(len, words)), exhaustive=exhaustive)

    def _check_capacity(self, machine: Machine, room: int) -> None:
        if self.capacity(machine, room) > LARGEST_VOCABULARY:
            raise InputError(
                f"This way to run machine {machine.name!r} writes its tape of {room} cells as one number, up to "
                f"{float(self.capacity(machine, room)):.3g}, and {LARGEST_VOCABULARY:,} number tokens are allowed; "
                "use a shorter word, or another way to run it (hybrid, rag)."
            )

    def suites(self, sizes: Sizes) -> Iterator[Suite]:
        """Every shipped machine on every short word, then the long runs."""
        machines = shipped_machines()
        if sizes.exhaustive:
            for machine in machines.values():
                words = ["".join(w) for n in range(sizes.exhaustive + 1) for w in product(machine.alphabet, repeat=n)]
                yield self.suite(machine, [word for word in words if self.fits(machine, word)], exhaustive=True)
        for n, count in sizes.sampled:
            fitting = [run for run in self.long_runs(n) if self.fits(machines[run[0]], run[1])]
            for name, word in fitting[:count]:
                yield self.suite(machines[name], [word], exhaustive=False)


def cells_left_of_word(words: Sequence[str], runs: Sequence[Run]) -> int:
    """How many cells left of cell 1 the runs visit: pointers are shifted by it, because numbers start at 1."""
    return max(1 - run.lowest_cell for run in runs)
