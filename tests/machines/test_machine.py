"""The machine file format: what is read, and which mistakes are named."""

import pytest

from recherche.errors import InputError
from recherche.machines.machine import Transition, parse_machine, read_machine

FLIP = """
name: flip
description: swaps a and b
blank: _
alphabet: [a, b]
start: go
accept: [done]
reject: []
transitions:
  go:
    a: [b, R, go]
    b: [a, R, go]
    _: [_, S, done]
"""


def test_a_machine_file_is_read_field_by_field():
    machine = parse_machine(FLIP, where="flip")
    assert machine.transitions["go", "a"] == Transition("b", "R", "go")
    assert machine.states == ("go", "done")
    assert machine.symbols == ("_", "a", "b")


def test_names_stay_text_where_yaml_would_see_numbers_and_booleans():
    text = FLIP.replace("a", "0").replace("bl0nk", "blank").replace("st0rt", "start").replace("n0me", "name")
    text = text.replace("0lph0bet", "alphabet").replace("tr0nsitions", "transitions").replace("0ccept", "accept")
    text = text.replace("go", "yes")
    assert parse_machine(text, where="flip").transitions["yes", "0"].write == "b"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("    _: [_, S, done]\n", "", "no transition for state 'go' reading '_'", id="missing transition"),
        pytest.param("[b, R, go]", "[b, R, gone]", "goes to 'gone', which is neither", id="unknown state"),
        pytest.param("[b, R, go]", "[b, X, go]", "moves 'X'; use L, R or S", id="unknown move"),
        pytest.param("[b, R, go]", "[b, R]", r"needs \[write, move, next\]", id="short transition"),
        pytest.param(
            "[b, R, go]", "[c, R, go]", "no transition for state 'go' reading 'c'", id="written symbol unread"
        ),
        pytest.param("[b, R, go]", "[bb, R, go]", "single visible characters, got 'bb'", id="long symbol"),
        pytest.param(
            "    a: [b", "    d: [a, R, go]\n    a: [b", "transition for 'd', which is not in", id="stray symbol"
        ),
        pytest.param("    a: [b", "    b: [a, R, go]\n    a: [b", "lists 'b' twice", id="symbol twice"),
        pytest.param("start: go", "start: went", "starts in 'went', which has no transitions", id="unknown start"),
        pytest.param("alphabet: [a, b]", "alphabet: [a, b, _]", "holds its blank '_'", id="blank in alphabet"),
        pytest.param("alphabet: [a, b]", "alphabet: ab", "alphabet is a list of names, got 'ab'", id="text for list"),
        pytest.param("reject: []", "reject: [done]", "both accepts and rejects in done", id="two verdicts"),
        pytest.param("reject: []", "reject: [go]", "halts in 'go' but has a transition", id="halting state goes on"),
        pytest.param("accept: [done]", "accept: []", "no accept or reject state", id="cannot halt"),
        pytest.param("reject: []", "rejects: []", "unknown fields rejects", id="unknown field"),
        pytest.param("reject: []\n", "", "lacks the fields reject", id="missing field"),
        pytest.param("name: flip", "name: [flip]", "field name is a text", id="list for text"),
        pytest.param("name: flip", "name: {", "is not YAML", id="not YAML"),
    ],
)
def test_a_bad_machine_is_refused_with_the_reason(old, new, message):
    assert old in FLIP
    with pytest.raises(InputError, match=message):
        parse_machine(FLIP.replace(old, new, 1), where="flip")


@pytest.mark.parametrize("text", ["", "- a\n", "name"], ids=["empty", "list", "scalar"])
def test_a_file_without_fields_is_refused(text):
    with pytest.raises(InputError, match="holds no mapping of fields"):
        parse_machine(text, where="flip")


def test_a_missing_file_is_refused_by_its_path(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        read_machine(tmp_path / "nowhere.yaml")


def test_a_word_in_foreign_symbols_is_refused():
    with pytest.raises(InputError, match="written in a b, got 'abc' with c"):
        parse_machine(FLIP, where="flip").check_word("abc")
