"""The shipped machines do what their description says, on every short word."""

import itertools
from collections.abc import Callable

import pytest

from recherche.errors import ConfigError, InputError
from recherche.machines import find_machine, run_machine, shipped_machines


def balanced(word: str) -> bool:
    depth = 0
    for symbol in word:
        depth += 1 if symbol == "(" else -1
        if depth < 0:
            return False
    return depth == 0


LANGUAGES: dict[str, Callable[[str], bool]] = {
    "palindrome": lambda word: word == word[::-1],
    "anbncn": lambda word: word == "".join(letter * (len(word) // 3) for letter in "abc"),
    "parentheses": balanced,
}


def words(alphabet: tuple[str, ...], longest: int) -> list[str]:
    return ["".join(word) for n in range(longest + 1) for word in itertools.product(alphabet, repeat=n)]


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_machine_accepts_exactly_its_language(name):
    machine = find_machine(name)
    for word in words(machine.alphabet, 6):
        assert run_machine(machine, word).accepted == LANGUAGES[name](word), word


def test_increment_adds_one_to_every_number_of_up_to_eight_bits():
    for word in words(("0", "1"), 8)[1:]:
        tape = run_machine(find_machine("increment"), word).tape
        assert int(tape, 2) == int(word, 2) + 1
        assert len(tape) in (len(word), len(word) + 1)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(range(4), repeat=2)))
def test_multiplication_writes_the_product_and_restores_its_factors(a, b):
    word = "1" * a + "x" + "1" * b + "="
    assert run_machine(find_machine("multiplication"), word).tape == word + "1" * (a * b)


def test_multiplication_rejects_every_malformed_word():
    for word in words(("1", "x", "="), 4):
        left, _, rest = word.partition("x")
        well_formed = "x" in word and set(left) <= {"1"} and rest.endswith("=") and set(rest[:-1]) <= {"1"}
        assert run_machine(find_machine("multiplication"), word).accepted == well_formed, word


def test_the_busy_beaver_takes_107_steps_and_leaves_13_ones():
    run = run_machine(find_machine("busy_beaver"), "")
    assert (len(run.steps), run.tape.count("1")) == (107, 13)


def test_countdown_takes_every_number_to_zero_within_two_more_cells():
    for word in words(("0", "1"), 5):
        run = run_machine(find_machine("countdown"), word)
        assert run.accepted
        assert run.tape == "1" * len(word), "below zero all bits are ones"
        assert run.highest_cell - run.lowest_cell <= len(word) + 1
        assert len(run.steps) >= 2 * int(word[::-1] or "0", 2)


def test_seven_machines_ship_under_the_names_of_their_files():
    assert list(shipped_machines()) == [
        "anbncn",
        "busy_beaver",
        "countdown",
        "increment",
        "multiplication",
        "palindrome",
        "parentheses",
    ]


def test_an_unknown_machine_is_answered_with_near_names():
    with pytest.raises(ConfigError, match="did you mean palindrome"):
        find_machine("palindrom")


def test_a_path_that_does_not_exist_is_an_input_error():
    with pytest.raises(InputError, match=r"missing\.yaml"):
        find_machine("missing.yaml")
