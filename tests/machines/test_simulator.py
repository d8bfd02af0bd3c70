"""The simulator, step by step, and its bound."""

import pytest

from recherche.errors import InputError
from recherche.machines import Step, find_machine, parse_machine, run_machine


def test_every_step_says_where_what_was_read_and_what_was_done():
    steps = run_machine(find_machine("increment"), "1").steps
    assert steps == (
        Step(1, "right", "1", "1", "R", "right"),
        Step(2, "right", "_", "_", "L", "carry"),
        Step(1, "carry", "1", "0", "L", "carry"),
        Step(0, "carry", "_", "1", "S", "done"),
    )


def test_a_run_knows_the_cells_it_visited():
    run = run_machine(find_machine("increment"), "1")
    assert (run.lowest_cell, run.highest_cell, run.tape) == (0, 2, "10")


def test_a_machine_that_does_not_halt_is_stopped_at_the_bound():
    forever = """
name: forever
description: walks to the right
blank: _
alphabet: []
start: go
accept: [never]
reject: []
transitions: {go: {_: [_, R, go]}}
"""
    with pytest.raises(InputError, match="has not halted after 500 steps"):
        run_machine(parse_machine(forever, where="text"), "", max_steps=500)


def test_a_machine_that_starts_halted_takes_no_step():
    still = """
name: still
description: accepts at once
blank: _
alphabet: [a]
start: done
accept: [done]
reject: []
transitions: {}
"""
    run = run_machine(parse_machine(still, where="text"), "aa")
    assert (run.steps, run.accepted, run.tape) == ((), True, "aa")
