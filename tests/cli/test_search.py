import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app

RUN = CliRunner()
GRAPH = "<s> 1 ~ 2\n2\t~ 3 <d>\n"


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "graph.txt"
    path.write_text(GRAPH, encoding="utf-8")
    return str(path)


def test_prints_the_tokens_and_where_they_stand(graph: str):
    result = RUN.invoke(app, ["search", "(?:^| )1 ~ ([^ ]+)", graph])
    assert (result.exit_code, result.stdout) == (0, "2\t3:4\n")


def test_all_matches_as_json_lines():
    result = RUN.invoke(app, ["search", r"(\d) ~", "-", "--all", "--json"], input=GRAPH)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["status"], line["tokens"], line["span"], line["tier"]) for line in lines] == [
        ("OK", ["1"], [1, 2], "re2"),
        ("OK", ["2"], [4, 5], "re2"),
    ]
    assert {"pattern", "translated", "program_size"} <= set(lines[0])
    assert result.exit_code == 0


def test_explain_says_who_answered_and_what_re2_would_run(graph: str):
    result = RUN.invoke(app, ["search", "(?:^| )2 ([^ ]+) [^ ]", graph, "--explain"])
    assert "tier        template" in result.stdout
    assert r"(?s)(?:^| )2 ([^ ]+) [^ ]" in result.stdout
    assert "instructions" in result.stdout


@pytest.mark.parametrize(
    ("pattern", "exit_code", "message"),
    [("(9)", 1, "NO_MATCH"), ("(", 2, "SYNTAX"), ("(?=1)(1)", 2, "UNSUPPORTED"), ("1", 2, "NO_GROUP")],
)
def test_exit_code_tells_nothing_found_from_refused(graph: str, pattern: str, exit_code: int, message: str):
    result = RUN.invoke(app, ["search", pattern, graph])
    assert result.exit_code == exit_code
    assert result.stdout == ""
    assert result.stderr.startswith(message)


def test_a_missing_file_says_what_to_give():
    result = RUN.invoke(app, ["search", "(1)", "nowhere.txt"])
    assert result.exit_code == 2
    assert "Cannot read the text nowhere.txt" in result.stderr


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path):
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"caf\xe9")
    result = RUN.invoke(app, ["search", "(1)", str(path)])
    assert result.exit_code == 2
    assert "is not UTF-8" in result.stderr
