"""Theorem 5.8: a linear RNN with one Transformer layer on top simulates any Turing machine, five tokens a step.

    prompt  <s> 'w1' ... 'wn' <d>      step  p 'r' 'w' D @q      on cell p read r, write w, move D, go to state q

The tape is never stored. The symbol on cell p is whatever was written there last, or the word's own symbol, or blank:
one head finds the last record with key p. Records are the word's tokens (cell: the position less one) and the move
tokens of the steps (cell: the p three tokens before; symbol: the w before). A step's record stands on its fourth
token, so it can be found only by later steps. Cells are shifted by a constant so that they are numbers >= 1; no
record: blank.

    at p     the head's result, a symbol code, is emitted as r
    at r     the transition of (state, r): the state stands two tokens before, <d> standing for the start state
    at q     p plus the move, p being four tokens before; at a halting state the answer

Codes become tokens in the last layer without any comparison: symbol i gets the logit 2ic - i^2 + 1, which is largest,
by at least 1, at i = c. The table is one unit an entry: O(states x symbols) parameters.

Reference: Wen, Dang & Lyu (2024), Theorem 5.8 and Appendix C.14, https://arxiv.org/abs/2402.18510
"""

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Case, Construction, Sizes
from recherche.constructions.layout import Hybrid
from recherche.constructions.program import Program
from recherche.constructions.turing import (
    Alphabets,
    Simulation,
    cells_left_of_word,
    emit_verdict,
    state_token,
    symbol_token,
    transition_table,
    verdict,
)
from recherche.machines import MOVES, Machine, Run, shipped_machines
from recherche.vocab import BEGIN, END_OF_DATA, NO, YES


def machine_program(machine: Machine, capacity: int, left: int) -> Program:
    """The simulator of one machine, with `left` cells to the left of the word."""
    names = Alphabets(machine)
    specials = (BEGIN, END_OF_DATA, *MOVES, YES, NO, *names.symbols, *names.states)
    p = Program("machine-hybrid", specials, capacity, Hybrid(recurrent=3))

    def number(back: int) -> Affine:
        return p.lag(p.number, back, name="number")

    pointer, symbol = p.is_number(), p.code_of(names.symbols)
    moved = p.one_of(MOVES)
    read_data = p.running_sum(p.special(END_OF_DATA), name="data read", high=1)
    in_word = p.all_of(p.one_of(names.symbols), 1 - read_data, name="in word")
    cell = p.choose((in_word, p.position - 1 + left), (moved, number(3)), name="cell")
    content = p.choose((in_word, symbol), (moved, p.lag(symbol, 1, name="symbol")), name="content")
    record = p.assume(in_word + moved, 0, 1, because="a token is of one kind")
    read = p.match(keys=cell, queries=p.number, values=content, where=record, select="last", name="read")

    state = p.code_of(names.states)
    reading = p.lag(pointer, 1, name="pointer")
    reads = {s: p.special(symbol_token(s)) for s in machine.symbols}
    outcome = transition_table(p, machine, p.lag(state, 2, name="state"), reads, when=(reading,))
    p.emit_code(names.symbols, read, when=pointer)
    p.emit_code(names.symbols, outcome.write, when=reading)
    p.emit_code(MOVES, p.lag(outcome.move, 1, name="move"), when=p.lag(pointer, 2, name="pointer"))
    p.emit_code(names.states, p.lag(outcome.state, 2, name="next state"), when=p.lag(pointer, 3, name="pointer"))
    step = p.lag(p.special("R") - p.special("L"), 1, name="R - L")
    p.emit_number(number(4) + step, when=p.one_of(names.working))
    emit_verdict(p, names)
    if machine.start in machine.halting:
        p.emit(YES if machine.start in machine.accept else NO, when=p.special(END_OF_DATA))
    else:
        p.emit_number(Affine.of(1 + left), when=p.special(END_OF_DATA))
    return p


def machine_case(machine: Machine, word: str, run: Run, left: int) -> Case:
    """The prompt and the text that follows it, from the simulator's steps."""
    text = [
        token
        for step in run.steps
        for token in (
            str(step.head + left),
            symbol_token(step.read),
            symbol_token(step.write),
            step.move,
            state_token(step.next_state),
        )
    ]
    return Case((BEGIN, *map(symbol_token, word), END_OF_DATA), (*text, verdict(run)))


SIMULATION = Simulation(program=machine_program, case=machine_case, room=cells_left_of_word)

CONSTRUCTIONS = (
    Construction(
        name="machine-hybrid",
        theorem="5.8",
        architecture="hybrid",
        statement="A linear RNN with one Transformer layer on top simulates any Turing machine, five tokens a step.",
        program=lambda capacity: machine_program(shipped_machines()["increment"], capacity, 1),
        suites=SIMULATION.suites,
        sizes=Sizes(2, ((12, 2),)),
        full_sizes=Sizes(4, ((64, 2),)),
        example_size=2,
        precision_sizes=(2, 4, 6, 8),
    ),
)
