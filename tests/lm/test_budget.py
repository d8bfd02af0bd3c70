"""A budget is made of positive numbers."""

import pytest

from recherche.errors import ConfigError
from recherche.lm.budget import Budget


@pytest.mark.parametrize("name", Budget.__slots__)
def test_nothing_can_be_bounded_by_zero(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} = 0"):
        Budget(**{name: 0})
    assert getattr(Budget(**{name: 1}), name) == 1
