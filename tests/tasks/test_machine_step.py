from itertools import product
from math import log2

import pytest

from recherche.errors import ConfigError
from recherche.machines import run_machine, shipped_machines
from recherche.queries import Index
from recherche.tasks.machine_step import MachineStep, behaviours

MACHINES = sorted(shipped_machines())


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_can_be_asked_for(name):
    task = MachineStep(n=4, machine=name)
    seen = {task.example(key).answer for key in range(1500)}
    assert seen == set(task.answer_tokens)
    assert len(task.vocab) == 9 + 4 + len(task.table.symbols) + len(task.table.working) + len(seen)


def test_answers_are_the_steps_of_a_run():
    """Every configuration of a real run, asked for, against what the simulator does next."""
    machine = shipped_machines()["increment"]
    word, task = "0111", MachineStep(n=5, machine="increment")
    tape = [*word, "_"]
    for step in run_machine(machine, word).steps:
        problem = {"tape": list(tape), "cell": step.head, "state": step.state}
        assert task.solve(problem) == f"{step.write},{step.move},{step.next_state}"
        tape[step.head - 1] = step.write


def test_every_cell_state_and_symbol_is_drawn():
    task = MachineStep(n=3)
    problems = [task.example(key).problem for key in range(1500)]
    seen = {(p["cell"], p["state"], p["tape"][p["cell"] - 1]) for p in problems}
    assert seen == set(product((1, 2, 3), task.table.working, task.table.symbols))


@pytest.mark.parametrize(("name", "n"), [("increment", 2), ("busy_beaver", 3), ("anbncn", 2)])
def test_the_bound_counts_what_questions_tell_apart(name, n):
    task = MachineStep(n=n, machine=name)
    questions = list(product(range(1, n + 1), task.table.working))
    answers = {
        tuple(task.solve({"tape": list(tape), "cell": cell, "state": state}) for cell, state in questions)
        for tape in product(task.table.symbols, repeat=n)
    }
    assert task.lower_bound_bits == pytest.approx(log2(len(answers)))


@pytest.mark.parametrize("name", MACHINES)
def test_chance_is_the_best_guess_from_the_state_alone(name):
    task = MachineStep(n=1, machine=name)
    shares = []
    for state in task.table.working:
        steps = [task.solve({"tape": [symbol], "cell": 1, "state": state}) for symbol in task.table.symbols]
        shares.append(max(map(steps.count, steps)) / len(steps))
    assert task.chance == pytest.approx(sum(shares) / len(shares))
    assert task.chance < 1


def test_symbols_that_no_state_tells_apart_are_one_kind():
    machine = shipped_machines()["increment"]
    alike = {(state, symbol): machine.transitions[state, "0"] for state, symbol in machine.transitions}
    assert len(behaviours(machine)) == 3
    assert len(behaviours(machine.__class__(**{**fields_of(machine), "transitions": alike}))) == 1


def fields_of(machine):
    return {name: getattr(machine, name) for name in machine.__dataclass_fields__}


def test_a_cell_is_asked_for():
    assert MachineStep(n=8).read_query(("7",)) == Index(8)


def test_the_machine_is_an_option():
    task = MachineStep.configured(n=4, protocol="direct", machine="increment")
    assert task.answer_tokens == ("0,R,right", "1,R,right", "_,L,carry", "1,S,done", "0,L,carry")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "at least one cell, got n = 0"),
        ({"n": 9, "n_numbers": 8}, "names 9 cells, got n_numbers = 8"),
        ({"n": 4, "machine": "incremet"}, "no machine 'incremet'; did you mean increment"),
        ({"n": 4, "machine": 3}, "The option machine of machine-step is a name, got 3"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        MachineStep.configured(**options, protocol="direct")
