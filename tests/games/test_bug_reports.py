"""That the programs show failures is tested with the models, in `test_hf_subjects.py`."""

import ast

import pytest

from recherche.games.bug_reports import TEMPLATES, bug_report
from recherche.games.contract_checks import CHECKS


@pytest.mark.parametrize("returns_cache", [True, False], ids=["returns a cache", "is given one"])
@pytest.mark.parametrize("takes_positions", [True, False], ids=["positions", "no positions"])
@pytest.mark.parametrize("check", TEMPLATES)
def test_every_report_is_a_program_that_stands_alone(check: str, takes_positions: bool, returns_cache: bool) -> None:
    text = bug_report(
        check, "model = 1", cache_name="cache", takes_positions=takes_positions, returns_cache=returns_cache
    )
    imported = {name.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for name in node.names}
    assert imported == {"copy", "torch", "transformers"}
    assert f"'{check}'" in text.splitlines()[0]
    assert text.count("{") == text.count("}")
    assert takes_positions or "position_ids" not in text


def test_every_check_that_can_fail_has_a_report() -> None:
    assert set(TEMPLATES) == set(CHECKS) - {"growth"}


def test_positions_are_left_out_where_the_model_has_to_find_them() -> None:
    given = {"cache_name": "cache", "takes_positions": True, "returns_cache": True}
    assert "position_ids" not in bug_report("positions by default", "", **given)
    assert "position_ids" in bug_report("token by token", "", **given)
