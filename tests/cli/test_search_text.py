import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.cli.search_text import Hit, Question, by_pattern, read_text
from recherche.errors import InputError
from recherche.retrieval import Retriever

RUN = CliRunner()
CODE = "import re\r\n\ndef alpha(x):\n    return x\n\ndef beta(y, z):\n    return café\n"
NOTES = "Ada Berg: 555-1234\nZed: 1\nCafe\u0301\n"
FUNCS = "".join(f"func f{i}() {{\n    x\n    someIdent{i}\n}}\n\n" for i in range(300))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("a.py", CODE), ("notes.txt", NOTES), ("f.go", FUNCS)):
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "latin1.txt").write_bytes(b"caf\xe9")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FOUND = {
    "a group within a word": (["--text", r"def (\w+)", "a.py"], "a.py:3:5:alpha\n"),
    "lines": (["--text", r"^def (\w+)", "a.py", "--all"], "a.py:3:5:alpha\na.py:6:5:beta\n"),
    "the whole match": (["--text", r"return \w+$", "a.py"], "a.py:4:5:return x\n"),
    "any case": (["-i", "ADA", "notes.txt"], "notes.txt:1:1:Ada\n"),
    "normal form": (["--fold", "Caf\u00e9", "notes.txt"], "notes.txt:3:1:Cafe\u0301\n"),
    "characters": (["--literal", "(y, z)", "a.py"], "a.py:6:9:(y, z)\n"),
    "all characters": (["--literal", "return", "a.py", "--all"], "a.py:4:5:return\na.py:7:5:return\n"),
    "a question": (["--query", "after Ada Berg:", "notes.txt"], "notes.txt:1:11:555-1234\n"),
    "several files": (
        ["--text", "e.: 1|Ada", "a.py", "notes.txt", "--all"],
        "notes.txt:1:1:Ada\nnotes.txt:2:2:ed: 1\n",
    ),
    "context": (
        ["--text", "beta", "a.py", "-B", "1", "-A", "9"],
        "a.py-5-\na.py:6:def beta(y, z):\na.py-7-    return café\n",
    ),
    "groups of context": (
        ["--text", "return", "a.py", "--all", "-A", "1"],
        "a.py:4:    return x\na.py-5-\n--\na.py:7:    return café\n",
    ),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "shown"), FOUND.values(), ids=FOUND)
def test_what_is_found_is_shown_with_its_place(arguments: list[str], shown: str):
    result = RUN.invoke(app, ["search", *arguments])
    assert (result.exit_code, result.stdout) == (0, shown)


@pytest.mark.usefixtures("folder")
def test_a_match_may_go_over_many_lines():
    result = RUN.invoke(app, ["search", "--text", r"^func .*\n(?:.*\n){0,40}?.*someIdent200", "f.go", "--json"])
    found = json.loads(result.stdout)
    assert (found["status"], found["line"], found["column"]) == ("OK", 966, 1)
    assert found["text"].endswith("someIdent200")


@pytest.mark.usefixtures("folder")
def test_json_has_line_column_and_context():
    result = RUN.invoke(app, ["search", "--text", "beta", "a.py", "notes.txt", "--json", "-A", "1"])
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["file"], first["line"], first["column"], first["byte_span"]) == ("a.py", 6, 5, [44, 48])
    assert (first["before"], first["after"]) == ([], ["    return café"])
    assert (second["file"], second["status"]) == ("notes.txt", "NO_MATCH")


def test_standard_input_is_a_file():
    result = RUN.invoke(app, ["search", "--text", "b.", "-"], input="a\nbc\n")
    assert (result.exit_code, result.stdout) == (0, "-:2:1:bc\n")


NOT_FOUND = {
    "nothing": (["--text", "zzz", "a.py"], 1, "a.py: NO_MATCH: "),
    "refused": (["--text", "(?=a)", "a.py"], 2, "a.py: UNSUPPORTED: "),
    "no file": (["--text", "a", "nowhere"], 2, "error: Cannot read the text nowhere"),
    "not a text": (["--text", "a", "latin1.txt"], 2, "latin1.txt is not UTF-8"),
    "no files": (["--text", "a"], 2, "needs files, got none"),
    "two files of tokens": (["(a)", "a.py", "notes.txt"], 2, "Tokens are searched in one file, got 2"),
    "all of a question": (["--query", "after a", "a.py", "--all"], 2, "says itself which match"),
    "a question about nothing": (["--query", "between a", "a.py"], 2, "the sign between the keys is missing"),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "exit_code", "said"), NOT_FOUND.values(), ids=NOT_FOUND)
def test_why_nothing_is_found_is_said(arguments: list[str], exit_code: int, said: str):
    result = RUN.invoke(app, ["search", *arguments])
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert said in " ".join(result.stderr.split())


@pytest.mark.usefixtures("folder")
def test_a_file_that_cannot_be_read_does_not_keep_others_from_being_searched():
    result = RUN.invoke(app, ["search", "--text", "Zed", "latin1.txt", "notes.txt", "--explain"])
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "notes.txt:2:1:Zed")
    assert "tier        re2" in result.stdout
    assert "is not UTF-8" in result.stderr


def test_the_lines_of_a_match_end_with_the_text():
    text = "a\nb\n"
    [found] = by_pattern(r"a\nb\n", most=1)(Retriever().text(text))
    hit = Hit("f", found, ["a", "b"], Question(by_pattern("a", most=1), before=3, after=3))
    assert (hit.before, hit.rows, hit.after) == (range(0), range(2), range(2, 2))


def test_a_missing_text_says_what_to_give():
    with pytest.raises(InputError, match="give a file, or - for standard input"):
        read_text("nowhere")
