"""The way that is right, and the fastest of those."""

import pytest

from recherche.games.hf_subjects import tiny_subject
from recherche.lm.compiled_reading import SHORTEST, CompiledReading
from recherche.lm.reading import CachedReading, WholeReading
from recherche.lm.reading_choice import choose_reading


@pytest.mark.parametrize(
    ("family", "length", "already", "kind", "chunks"),
    [
        pytest.param("llama", 5000, 0, CachedReading, True, id="right in chunks"),
        pytest.param("jamba", 5000, 0, CachedReading, False, id="wrong in chunks"),
        pytest.param("mamba", SHORTEST, 0, CompiledReading, False, id="compiled loops for a long prompt"),
        pytest.param("mamba", SHORTEST - 1, 0, CachedReading, False, id="a short prompt"),
        pytest.param("mamba", 5000, 4000, CachedReading, False, id="a prompt read before"),
        pytest.param("moshi", 50, 0, WholeReading, True, id="wrong in single steps"),
    ],
)
def test_the_way_follows_from_what_holds(family: str, length: int, already: int, kind: type, chunks: bool) -> None:
    way = choose_reading(tiny_subject(family).model, length, already=already)
    assert type(way) is kind
    assert way.chunks == chunks
