import dataclasses

import pytest

from recherche.errors import ConfigError
from recherche.retrieval.limits import Limits, Paper, Standard
from recherche.retrieval.outcome import Status
from recherche.vocab import FAILED


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits)])
def test_every_limit_is_positive_and_documented(name: str):
    with pytest.raises(ConfigError, match=rf"Limits need positive numbers, got {name} = 0; raise it"):
        Limits(**{name: 0})
    assert f"        {name}: " in (Limits.__doc__ or "")


def test_a_model_sees_failed_unless_the_user_chose_a_token():
    standard = Standard(failure_tokens={Status.TIMEOUT: "<TIMEOUT>"})
    assert [standard.failure_token(status) for status in (Status.TIMEOUT, Status.SYNTAX)] == ["<TIMEOUT>", FAILED]
    assert {Paper().failure_token(status) for status in Status} == {FAILED}
