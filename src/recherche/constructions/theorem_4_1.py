"""Theorem 4.1 (upper half): a linear RNN with a chain of thought simulates any machine in linear space.

    prompt  <s> 'w1' ... 'wn' <d>          step  @q L R          state and the two halves of the tape, as numbers

A linear unit cannot edit a tape: what it does to its state does not depend on the input. So the whole configuration
is written down after every step, which takes three tokens if the tape fits into two numbers, and the next
configuration is a function of these three tokens, found by the feed-forward layers. With base B, a power of two, and
D digits,

    L = sum of code(cell left of the head by i) B^(D - i), i = 1 .. D         nearest cell in the leading digit
    R = sum of code(cell right of the head by i) B^(D - 1 - i), i = 0 .. D-1  cell under the head in the leading digit

(the tokens are L + 1 and R + 1, because numbers start at 1). Both are stacks. The leading digit of X is the number of
c >= 1 with X >= c B^(D-1), so B - 1 comparisons find it. To pop the digit c: B (X - c B^(D-1)), which appends a blank.
To push c: X / B + c B^(D-1), which loses the last digit, and that is 0 as long as the run stays within D cells. So with
a = top(R), b = top(L), and w written:

    S    R' = R + (w - a) B^(D-1)
    R    R' = B (R - a B^(D-1)),                               L' = L / B + w B^(D-1)
    L    R' = (R + (w - a) B^(D-1)) / B + b B^(D-1),           L' = B (L - b B^(D-1))

One unit for each entry of the table, and for a move to the left one for each b. The word is loaded while it is read:
a decaying impulse from <s> has the weight B^(D - i) at the i-th symbol; times its code, summed, that is R, and L is 0.

The theorem's machines work on D = O(log n) cells. Then both numbers are at most polynomial in n: they are tokens of an
ordinary vocabulary, and p = O(log n) bits hold them, for a time that may be any polynomial in n. The long run here
counts n ones down to zero: n + 2 cells and about 5 * 2^n steps.

Reference: Wen, Dang & Lyu (2024), Theorem 4.1 and Appendix C.2, https://arxiv.org/abs/2402.18510
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Case, Construction, Sizes
from recherche.constructions.layout import LinearRNN
from recherche.constructions.program import Program, Row
from recherche.constructions.turing import (
    Alphabets,
    Simulation,
    emit_verdict,
    state_flags,
    state_token,
    symbol_token,
    verdict,
)
from recherche.machines import Machine, Run, shipped_machines
from recherche.vocab import BEGIN, END_OF_DATA, NO, YES


def digits_of(machine: Machine, capacity: int) -> int:
    """The largest D for which L + 1 and R + 1, at most base^D, are tokens."""
    return int(math.log2(capacity) / math.log2(base_of(machine)))


def base_of(machine: Machine) -> int:
    """The least power of two that gives every symbol a digit."""
    return 1 << (len(machine.symbols) - 1).bit_length()


def machine_program(machine: Machine, capacity: int, digits: int) -> Program:
    """The simulator of one machine on a tape of `digits` cells to each side of the head."""
    names = Alphabets(machine)
    base, lead = base_of(machine), base_of(machine) ** (digits - 1)
    p = Program("machine-cot", (BEGIN, END_OF_DATA, YES, NO, *names.symbols, *names.states), capacity, LinearRNN())
    state = p.lag(p.code_of(names.states), 2, name="state")
    complete = p.lag(p.one_of(names.states), 2, name="state given")
    left, right = p.lag(p.number, 1, name="number") - 1, p.number - 1
    is_state = state_flags(p, machine, state)
    top_left, top_right = (_leading_digit(p, x, lead, len(machine.symbols), n) for x, n in ((left, "L"), (right, "R")))
    next_state: list[Row] = []
    next_left: list[Row] = []
    next_right: list[Row] = []
    for (q, s), change in machine.transitions.items():
        a, w = machine.symbols.index(s), machine.symbols.index(change.write)
        here = (complete, is_state[q], top_right[a])
        next_state.append((here, Affine.of(machine.states.index(change.state))))
        written = right + (w - a) * lead
        if change.move == "S":
            next_left.append((here, left))
            next_right.append((here, written))
        elif change.move == "R":
            next_left.append((here, left * Fraction(1, base) + w * lead))
            next_right.append((here, base * (right - a * lead)))
        else:
            for b, is_b in enumerate(top_left):
                next_left.append(((*here, is_b), base * (left - b * lead)))
                next_right.append(((*here, is_b), written * Fraction(1, base) + b * lead))
    p.emit_code(names.states, p.choose(*next_state, name="next state"), when=complete)
    working, loaded = p.one_of(names.working), _loaded_word(p, names, base, digits)
    started = [p.lag(p.special(END_OF_DATA), back, name=END_OF_DATA) for back in range(3)]
    p.emit(state_token(machine.start), when=started[0])
    left_after = p.lag(p.choose(*next_left, name="next L"), 1, name="next L")
    p.emit_number(left_after + 1, when=working)
    right_after = p.lag(p.choose(*next_right, name="next R"), 2, name="next R")
    later = p.lag(working, 1, name="working")
    p.emit_number(right_after + 1, when=(later, 1 - started[2]))
    p.emit_number(p.lag(loaded, 2, name="loaded") + 1, when=(later, started[2]))
    emit_verdict(p, names)
    return p


def _leading_digit(p: Program, x: Affine, lead: int, n_digits: int, name: str) -> list[Affine]:
    """For each digit c, 1 if it is the leading one: x >= c lead but not x >= (c + 1) lead."""
    reached = [p.is_nonnegative(x - c * lead, name=f"{name} >= {c} lead") for c in range(1, n_digits)]
    steps = [Affine.of(1), *reached, Affine.of(0)]
    return [
        p.assume(here - above, 0, 1, because="a number that reaches a multiple reaches all smaller ones")
        for here, above in pairwise(steps)
    ]


def _loaded_word(p: Program, names: Alphabets, base: int, digits: int) -> Affine:
    """R of the word's first configuration, at <d>."""
    weight = p.decay(p.special(BEGIN) * base**digits, Fraction(1, base), name="weight")
    return p.running_sum(p.product(p.code_of(names.symbols), weight, name="digit"), name="loaded")


def machine_case(machine: Machine, word: str, run: Run, digits: int) -> Case:
    """The prompt and the text that follows it, from the simulator's steps on an ordinary tape."""
    base = base_of(machine)
    tape = dict(enumerate(map(machine.symbols.index, word), start=1))
    text: list[str] = []

    def configuration(state: str, head: int) -> list[str]:
        left = sum(tape.get(head - i, 0) * base ** (digits - i) for i in range(1, digits + 1))
        right = sum(tape.get(head + i, 0) * base ** (digits - 1 - i) for i in range(digits))
        return [state_token(state), str(left + 1), str(right + 1)]

    for step in run.steps:
        text += configuration(step.state, step.head)
        tape[step.head] = machine.symbols.index(step.write)
    return Case((BEGIN, *map(symbol_token, word), END_OF_DATA), (*text, state_token(run.state), verdict(run)))


def _digits(words: Sequence[str], runs: Sequence[Run]) -> int:
    """Cells that a run visits or that hold the word, a bound for both halves."""
    spans = (
        max(run.highest_cell, len(word), 1) - min(run.lowest_cell, 1) + 1 for word, run in zip(words, runs, strict=True)
    )
    return max(spans)


SIMULATION = Simulation(
    program=machine_program,
    case=machine_case,
    room=_digits,
    capacity=lambda machine, digits: base_of(machine) ** digits,
    long_runs=lambda n: (("countdown", "1" * n),),
)


def _example(capacity: int) -> Program:
    machine = shipped_machines()["increment"]
    return machine_program(machine, capacity, digits_of(machine, capacity))


CONSTRUCTIONS = (
    Construction(
        name="machine-cot",
        theorem="4.1",
        architecture="rnn",
        statement="A linear RNN of constant size simulates any linear-space machine by its chain of thought alone.",
        program=_example,
        suites=SIMULATION.suites,
        sizes=Sizes(2, ((4, 1),)),
        full_sizes=Sizes(4, ((7, 1),)),
        example_size=2,
        precision_sizes=(2, 3, 4),
    ),
)
