import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.cli.search_server import MOST_RESULTS, Folder, build_server
from recherche.errors import ConfigError

SERVER = ["-c", "from recherche.cli.app import main; main()", "search", "serve", "--root"]
needs_mcp = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="the package mcp is not installed")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.py").write_text("def alpha(x):\n    return x\n\ndef beta(y):\n    return y\n", encoding="utf-8")
    (inside / "notes.txt").write_text("Ada Berg: 555-1234\n" + "a" * 3000 + "\n", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("alpha", encoding="utf-8")
    (inside / "way_out").symlink_to(tmp_path / "secret.txt")
    return inside


def call(server: Any, *requests: dict[str, Any]) -> list[Any]:
    """What the package's own client gets for each call of the tool."""
    from mcp import Client

    async def talk() -> list[Any]:
        async with Client(server) as client:
            [tool] = (await client.list_tools()).tools
            assert tool.name == "search_text"
            return [await client.call_tool(tool.name, request) for request in requests]

    return asyncio.run(talk())


ANSWERS = {
    "pattern": ({"asked": r"^def (\w+)", "files": ["a.py"]}, "OK", ["alpha", "beta"]),
    "literal": ({"asked": "return", "files": ["a.py"], "kind": "literal"}, "OK", ["return", "return"]),
    "query": (
        {"asked": "after ada berg:", "files": ["notes.txt"], "kind": "query", "ignore_case": True},
        "OK",
        ["555-1234"],
    ),
    "nothing": ({"asked": "zed", "files": ["a.py", "notes.txt"]}, "NO_MATCH", []),
    "no pattern": ({"asked": "(", "files": ["a.py"]}, "SYNTAX", []),
    "no query": ({"asked": "between a", "files": ["a.py"], "kind": "query"}, "SYNTAX", []),
    "look-ahead": ({"asked": "a(?=b)", "files": ["a.py"]}, "UNSUPPORTED", []),
    "hostile": ({"asked": r"^(\S+\s*)+!$", "files": ["a.py", "notes.txt"]}, "NO_MATCH", []),
    "no file": ({"asked": "a", "files": []}, "NO_MATCH", []),
}


@needs_mcp
def test_every_answer_names_its_outcome(root: Path):
    results = call(build_server(root), *(request for request, _, _ in ANSWERS.values()))
    for result, (_, outcome, texts) in zip(results, ANSWERS.values(), strict=True):
        answer = result.structured_content
        assert (answer["outcome"], [match["text"] for match in answer["matches"]]) == (outcome, texts)
        assert bool(answer["reason"]) is (outcome not in ("OK", "NO_MATCH")) or not answer["matches"]


@needs_mcp
def test_a_server_in_a_process_of_its_own_answers_on_standard_output(root: Path):
    from mcp import StdioServerParameters

    server = StdioServerParameters(command=sys.executable, args=[*SERVER, str(root)])
    request = {"asked": "beta", "files": ["a.py"], "context_lines": 1}
    [result] = call(server, request)
    [match] = result.structured_content["matches"]
    assert match == {
        "file": "a.py",
        "text": "beta",
        "line": 4,
        "column": 5,
        "span": [32, 36],
        "before": [""],
        "after": ["    return y"],
    }


@needs_mcp
def test_results_are_bounded(root: Path):
    many, too_many = call(
        build_server(root),
        {"asked": "a", "files": ["notes.txt"], "most_results": 5},
        {"asked": "a", "files": ["notes.txt"], "most_results": MOST_RESULTS + 1},
    )
    assert (len(many.structured_content["matches"]), many.structured_content["more"]) == (5, True)
    assert too_many.is_error


@needs_mcp
def test_only_files_below_the_folder_are_read(root: Path):
    files = ["../secret.txt", "way_out", str(root.parent / "secret.txt"), "nowhere", "a.py"]
    [result] = call(build_server(root), {"asked": "alpha", "files": files})
    answer = result.structured_content
    assert [match["file"] for match in answer["matches"]] == ["a.py"]
    assert [sentence.split(": ")[1] for sentence in answer["unread"]] == ["outside the folder of the server"] * 3 + [
        "no such file"
    ]


def test_a_folder_stops_when_its_time_is_over(root: Path, monkeypatch: pytest.MonkeyPatch):
    from recherche.cli import search_server
    from recherche.cli.search_text import Question, by_pattern

    monkeypatch.setattr(search_server, "SECONDS_IN_ALL", -1.0)
    question = Question(by_pattern("alpha", most=2))
    answer = Folder(root).answer(question, ["a.py", "a.py"], most_results=1, ignore_case=False)
    assert (answer["outcome"], len(answer["unread"])) == ("NO_MATCH", 1)
    assert answer["unread"][0].startswith("2 files: ")


def test_a_server_needs_a_folder_and_the_package(root: Path, monkeypatch: pytest.MonkeyPatch):
    result = CliRunner().invoke(app, ["search", "serve", "--root", str(root / "a.py")])
    assert result.exit_code == 2
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(ConfigError, match=r"needs the package mcp.*pip install 'recherche\[mcp\]'"):
        build_server(root)
