import pytest

from recherche.retrieval.limits import Limits
from recherche.retrieval.pattern import read_pattern
from recherche.retrieval.syntax import Char, Group, can_be_empty, expanded_size, walk


def root(pattern: str):
    return read_pattern(pattern, Limits()).root


@pytest.mark.parametrize(
    ("pattern", "empty"),
    [
        *(("", True), ("a*", True), ("^", True), ("a|", True), ("[ab]{0,3}", True), (r"(?:\b)", True)),
        *(("a", False), ("a+", False), ("(a?)(b)", False), (".", False), ("(?:a|b)", False)),
    ],
)
def test_knows_what_can_match_the_empty_text(pattern: str, empty: bool):
    assert can_be_empty(root(pattern)) is empty


def test_size_counts_repeats_as_written_out():
    def size(pattern: str) -> int:
        return expanded_size(root(pattern), lambda node: len(node.ranges))

    assert size("a") == 2
    assert size("a{100}") == 102
    assert size("(?:a{100}){100}") > 10_000
    assert size("a{0,7}b*") == 18
    assert size("[a-z0-9]{10}") == 32


def test_walk_meets_every_node():
    nodes = list(walk(root("(a|b(c)){2}")))
    assert [node.text for node in nodes if isinstance(node, Char)] == ["a", "b", "c"]
    assert [node.number for node in nodes if isinstance(node, Group)] == [1, 2]
