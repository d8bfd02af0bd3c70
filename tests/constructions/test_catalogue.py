"""What `prove` can run, by name and by theorem."""

import pytest

from recherche.constructions.catalogue import CONSTRUCTIONS, NAMES, SIMULATIONS, named
from recherche.errors import ConfigError

THEOREMS = ["4.1", "4.6", "4.7", "4.8", "5.2", "5.3", "5.4", "5.6", "5.7", "5.8"]


def test_every_positive_theorem_has_a_program():
    assert sorted({construction.theorem for construction in CONSTRUCTIONS.values()}) == THEOREMS


def test_a_theorem_stands_for_its_programs_and_all_for_everything():
    assert named(["4.7", "istree-transformer", "5.1"]) == ["istree-transformer", "oracle-recall"]
    assert tuple(named(["all"])) == NAMES


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(ConfigError, match="did you mean istree-hybrid"):
        named(["istree-hybird"])


def test_each_way_to_run_a_machine_has_its_construction():
    assert all(f"machine-{name}" in CONSTRUCTIONS for name in SIMULATIONS)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_a_construction_says_what_it_shows_and_shows_its_program(name):
    construction = CONSTRUCTIONS[name]
    assert construction.statement.endswith(".")
    assert construction.program(64).name == name
    assert "emit" in str(construction.program(64))
