from types import MappingProxyType

import pytest

from recherche._lookup import lookup
from recherche.errors import ConfigError

TABLE = MappingProxyType({"mamba": 1, "transformer": 2, "hybrid": 3})


@pytest.mark.parametrize("name", TABLE)
def test_a_known_name_gives_its_member(name: str):
    assert lookup(TABLE, name, what="architecture") == TABLE[name]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        pytest.param("mambo", "did you mean mamba?", id="misspelt"),
        pytest.param("transfomer", "did you mean transformer?", id="letter missing"),
        pytest.param("Hybrid", "did you mean hybrid?", id="capital"),
    ],
)
def test_a_near_miss_is_answered_with_the_nearest_name(name: str, hint: str):
    with pytest.raises(ConfigError) as refusal:
        lookup(TABLE, name, what="architecture")
    assert hint in str(refusal.value)


def test_an_unknown_name_is_answered_with_all_names_and_no_guess():
    with pytest.raises(
        ConfigError, match=r"no architecture 'xyz'; Choose from: mamba, transformer, hybrid\."
    ) as refusal:
        lookup(TABLE, "xyz", what="architecture")
    assert "did you mean" not in str(refusal.value)
