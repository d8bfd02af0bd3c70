import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.cli.contract import HEADINGS, cell_of, details_of, markdown_of, table_of, write_scripts
from recherche.games.contract import Finding
from recherche.games.contract_checks import CHECKS
from recherche.games.tiny_families import TINY_FAMILIES

RUN = CliRunner()
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.slow
def test_our_own_run_passes(untrained: Any) -> None:
    result = RUN.invoke(app, ["contract", "--run", str(untrained("hybrid"))])
    assert result.exit_code == 0, result.output
    assert "FAILS" not in result.stdout


@pytest.mark.slow
def test_a_family_that_fails_is_told_with_a_script(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    result = RUN.invoke(app, ["contract", "--family", "mamba", "--scripts", str(tmp_path), "--json"])
    assert result.exit_code == 1, result.output
    records = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert [record["check"] for record in records] == list(CHECKS)
    failed = {record["check"] for record in records if record["passed"] is False}
    assert failed == {"chunks of 2", "chunks of 3", "chunks of 7", "chunks of 64", "wrong name"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mamba-chunks-of-2.py", "mamba-wrong-name.py"]
    assert "tokens.split(2, dim=1)" in (tmp_path / "mamba-chunks-of-2.py").read_text()


RESULTS = {
    "./folder/toy": [
        Finding(check="token by token", passed=True, error=3e-7),
        Finding(check="chunks of 2", passed=False, error=0.0123, position=2, layer=1, note="one row is right"),
        Finding(check="fork", passed=None, note="no fork"),
        Finding(check="generate", passed=False, position=4),
        Finding(check="growth", passed=None, note="constant, 12 bits"),
    ]
}


def test_cells_are_short() -> None:
    assert [cell_of(finding)[0] for finding in RESULTS["./folder/toy"]] == ["ok", "1e-2", "-", "fails", "constant"]


def test_details_say_where_and_why() -> None:
    assert list(details_of(RESULTS)) == [
        "./folder/toy: FAILS chunks of 2: relative error 1.2e-02, first at position 2, in layer 1, one row is right",
        "./folder/toy: fork: no fork",
        "./folder/toy: FAILS generate: first at position 4",
        "./folder/toy: growth: constant, 12 bits",
    ]


def test_the_table_for_the_page_has_the_errors_of_passed_checks_too() -> None:
    versions, _, heading, rule, row = markdown_of(RESULTS)
    assert re.fullmatch(r"torch [\d.]+\S*(, transformers [\d.]+)?; float32, tolerance 1e-4\.", versions)
    assert heading.count("|") == rule.count("|") == len(HEADINGS) + 2
    assert row == "| toy | 3e-7 | **1e-2** | - | **fails** | constant, 12 bits |"


def test_the_table_for_the_terminal_fits() -> None:
    findings = [Finding(check=check, passed=False, error=0.1) for check in CHECKS]
    console = Console(width=120, file=io.StringIO())
    console.print(table_of({family: findings for family in TINY_FAMILIES}))
    assert "…" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_every_check_has_a_column() -> None:
    assert list(HEADINGS) == list(CHECKS)


class Scripted:
    """A subject whose program says its check."""

    name = "./folder/toy"

    def script(self, check: str) -> str:
        return f"print({check!r})"


def test_failures_get_a_script_each_and_chunks_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed = [Finding(check=check, passed=False) for check in ("chunks of 3", "chunks of 7", "fork")]
    write_scripts(tmp_path / "new", [Scripted()], {"./folder/toy": [*failed, *RESULTS["./folder/toy"][:1]]})  # type: ignore[list-item]
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"toy-chunks-of-3.py", "toy-fork.py"}
    assert (tmp_path / "new" / "toy-fork.py").read_text() == "print('fork')"
    assert capsys.readouterr().out.count("script: ") == 2


def test_the_page_has_every_family_and_every_column() -> None:
    page = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
    heading = next(line for line in page.splitlines() if line.startswith("| family"))
    assert heading.split(" | ")[1:] == [*list(HEADINGS.values())[:-1], "growth |"]
    assert re.findall(r"^\| (\w+) \| [*\de]", page, flags=re.M)[-len(TINY_FAMILIES) :] == list(TINY_FAMILIES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Nothing to hold"),
        (["--family", "mambo"], "did you mean mamba"),
        (["--hf", "/nowhere"], "cannot make /nowhere"),
    ],
    ids=["nothing", "unknown family", "no folder"],
)
def test_bad_input_is_refused(arguments: list[str], message: str) -> None:
    result = RUN.invoke(app, ["contract", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
