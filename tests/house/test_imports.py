"""Importing the package does nothing: no torch, no network, no file written, no device."""

import subprocess
import sys

import pytest

PROBE = """
import json, sys
seen = set()

def watch(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.remove", "os.rename", "os.mkdir")):
        seen.add(event)
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.add("write " + str(arguments[0]))

sys.addaudithook(watch)
{statement}
print(json.dumps([sorted(seen), [name for name in {heavy!r} if name in sys.modules]]))
"""
HEAVY = ("torch", "numba", "matplotlib", "transformers", "pydantic")
CLEAN = "[[], []]"


def probe(statement: str, heavy: tuple[str, ...]) -> str:
    """What a fresh interpreter did on the way through `statement`, as JSON: side effects, heavy modules loaded."""
    program = PROBE.format(statement=statement, heavy=heavy)
    command = [sys.executable, "-B", "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_importing_the_package_does_nothing():
    assert probe("import recherche", HEAVY) == CLEAN


def test_importing_the_search_does_nothing_and_does_without_torch():
    assert probe("import recherche.retrieval", ("torch", "matplotlib", "transformers")) == CLEAN


@pytest.mark.parametrize("module", ["recherche.tasks", "recherche.report"])
def test_drawing_data_and_reporting_do_without_torch(module: str):
    # Compiled loops look for their cache when they are declared, so files are not asked about here.
    assert probe(f"import {module}", ("torch",)).endswith(", []]")


def test_the_command_line_answers_without_loading_torch():
    statement = (
        "import typer.testing, recherche.cli.app as cli\n"
        "assert typer.testing.CliRunner().invoke(cli.app, ['--help']).exit_code == 0"
    )
    assert probe(statement, ("torch", "numba", "matplotlib", "transformers")) == CLEAN


@pytest.mark.parametrize(
    ("statement", "trace"),
    [
        pytest.param("import numba", '"numba"', id="a heavy module"),
        pytest.param("import socket; socket.socket().close()", "socket.", id="a socket"),
        pytest.param("import os; open(os.devnull, 'w').close()", "write /dev/null", id="a file"),
    ],
)
def test_the_probe_sees_what_it_looks_for(statement: str, trace: str):
    assert trace in probe(statement, HEAVY)
