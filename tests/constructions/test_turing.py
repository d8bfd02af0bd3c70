"""Machines as text and as tables."""

import pytest

from recherche.constructions.construction import Sizes
from recherche.constructions.layout import LinearRNN
from recherche.constructions.program import Program
from recherche.constructions.theorem_4_1 import SIMULATION
from recherche.constructions.turing import (
    Alphabets,
    cells_left_of_word,
    state_token,
    symbol_token,
    transition_table,
)
from recherche.errors import InputError
from recherche.machines import run_machine, shipped_machines

INCREMENT = shipped_machines()["increment"]


def test_symbols_and_states_have_tokens_of_their_own():
    names = Alphabets(INCREMENT)
    assert names.symbols == ("'_'", "'0'", "'1'")
    assert names.states == ("@right", "@carry", "@done")
    assert (names.working, names.accept, names.reject) == (("@right", "@carry"), ("@done",), ())


def test_the_blank_and_the_start_state_have_code_zero():
    for machine in shipped_machines().values():
        assert machine.symbols[0] == machine.blank
        assert machine.states[0] == machine.start


def test_the_table_holds_every_transition(audited):
    p = Program("table", ("<s>", *map(symbol_token, INCREMENT.symbols)), 8, LinearRNN())
    reads = {s: p.special(symbol_token(s)) for s in INCREMENT.symbols}
    transition_table(p, INCREMENT, p.lag(p.number, 1), reads, when=(1 - p.special("<s>"),))
    audited(p, [["<s>", "1", "'0'", "1", "'1'", "1", "'_'", "2"]])


def test_pointers_are_shifted_by_the_cells_left_of_the_word():
    words = ["1", "10"]
    assert cells_left_of_word(words, [run_machine(INCREMENT, word) for word in words]) == 1


def test_runs_that_need_too_large_numbers_are_left_out():
    assert SIMULATION.fits(INCREMENT, "1")
    assert not SIMULATION.fits(INCREMENT, "1" * 40)
    with pytest.raises(InputError, match=r"writes its tape of 42 cells as one number.*hybrid, rag"):
        SIMULATION.suite(INCREMENT, ["1" * 40], exhaustive=False)


def test_suites_hold_every_short_word_of_every_machine():
    suites = list(SIMULATION.suites(Sizes(1, ())))
    assert [suite.n for suite in suites] == [1, 0, 1, 1, 1, 1, 1]
    assert sum(len(suite.cases) for suite in suites) == 4 + 1 + 3 + 3 + 4 + 3 + 3
    assert state_token("q") == "@q"
