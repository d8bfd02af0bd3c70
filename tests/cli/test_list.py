import json

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.cli.list import FAMILIES

RUN = CliRunner()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_member_of_a_family_has_a_summary(family: str):
    result = RUN.invoke(app, ["list", family, "--json"])
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert lines
    assert [line["name"] for line in lines if not line["summary"]] == []
    assert {line["family"] for line in lines} == {family}


def test_without_a_family_all_are_listed():
    result = RUN.invoke(app, ["list"])
    assert result.exit_code == 0
    assert [family for family in FAMILIES if f"{family}\n" not in result.stdout.replace(" ", "")] == []


def test_an_unknown_family_is_answered_with_the_nearest_one():
    result = RUN.invoke(app, ["list", "preset"])
    assert result.exit_code == 2
    assert "There is no family 'preset'; did you mean presets?" in result.stderr
