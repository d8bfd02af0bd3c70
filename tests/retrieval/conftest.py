"""What the long runs of this folder share."""

from collections.abc import Iterator

import pytest
from jaxtyping import config


@pytest.fixture
def unchecked_types() -> Iterator[None]:
    """Leave run-time type checks out: a long run makes millions of small calls, whose types its sample has checked."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
