"""The figure of a program: its parts from the bottom to the top."""

from recherche.constructions.catalogue import CONSTRUCTIONS
from recherche.constructions.drawing import MOST_LETTERS, MOST_ROWS, draw_program, parts_of


def test_the_parts_of_a_program_are_its_layers_in_order():
    parts = parts_of(CONSTRUCTIONS["ar-transformer"].program(64))
    assert [(layer, kind) for layer, kind, _ in parts] == [
        ("layer 1", "feed-forward"),
        ("layer 2", "attention"),
        ("layer 2", "feed-forward"),
        ("layer 3", "attention"),
        ("layer 3", "feed-forward"),
    ]


def test_long_parts_are_shortened():
    rows = [row for _, _, rows in parts_of(CONSTRUCTIONS["istree-rag"].program(64)) for row in rows]
    assert max(map(len, rows)) <= MOST_LETTERS
    assert any(row.endswith(" more") for row in rows)
    assert all(len(rows) <= MOST_ROWS for _, _, rows in parts_of(CONSTRUCTIONS["istree-rag"].program(64)))


def test_a_figure_shows_every_layer(tmp_path):
    draw_program(CONSTRUCTIONS["ar-hybrid"].program(64), tmp_path / "ar.svg")
    assert "attention" in (tmp_path / "ar.svg").read_text()
