from recherche.report.appearance import (
    ARCHITECTURE_COLOURS,
    OTHER_COLOURS,
    ROLE_OF_COLOUR,
    architecture_label,
    colours_of,
    in_order,
    protocol_label,
    protocol_short_label,
)


def test_known_architectures_keep_their_colour_in_any_company():
    assert colours_of(["gru", "mamba"])["mamba"] == ARCHITECTURE_COLOURS["mamba"]


def test_unknown_architectures_get_distinct_colours():
    colours = colours_of(["gru", "lstm", "rwkv"])
    assert len(set(colours.values())) == 3
    assert set(colours.values()) <= set(OTHER_COLOURS)


def test_every_colour_has_its_own_role():
    assert len(set(ROLE_OF_COLOUR.values())) == len(ROLE_OF_COLOUR)


def test_the_papers_order_comes_first():
    assert in_order(["x", "retrieval", "direct"], ["direct", "cot", "retrieval"]) == ("direct", "retrieval", "x")


def test_unknown_names_stand_for_themselves():
    assert (architecture_label("gru"), protocol_label("silent"), protocol_short_label("silent")) == (
        "gru",
        "silent",
        "silent",
    )
