import os
import re
import subprocess
import sys
from types import MappingProxyType
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import recherche
from recherche.cli import app as application
from recherche.cli.app import COMMANDS, DEBUG_VARIABLE, WAIT_POLICY, Entry, app, build_command
from recherche.errors import InputError

RUN = CliRunner()


def refuse() -> None:
    """Refuse."""
    raise InputError("The graph holds [bold]3[/bold] loops; remove them.")


def interrupt() -> None:
    """Behave as if Ctrl-C had been pressed."""
    raise KeyboardInterrupt


def stumble() -> None:
    """Have a bug."""
    raise ValueError("a bug")


group = typer.Typer(help="A group with one command.")


@group.command("run")
def group_run() -> None:
    """Run."""
    typer.echo("ran")


@pytest.fixture
def with_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line with four made-up commands instead of its own."""
    members = {"refuse": refuse, "interrupt": interrupt, "stumble": stumble, "group": group}
    monkeypatch.setattr(
        application, "COMMANDS", MappingProxyType({name: Entry(f"app:{name}", "x") for name in members})
    )
    monkeypatch.setattr(Entry, "load", lambda entry: members[entry.home.partition(":")[2]])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_exists_and_teaches_by_example(name: str):
    members = getattr(build_command(name, COMMANDS[name]), "commands", {})
    for words in [[name, member] for member in members] or [[name]]:
        result = RUN.invoke(app, [*words, "--help"])
        assert result.exit_code == 0, result.output
        assert re.search(rf"^ +recherche {' '.join(words)}\b", result.output, re.MULTILINE), "no example"


def test_help_lists_every_command():
    output = RUN.invoke(app, ["--help"]).output
    assert [name for name in COMMANDS if f" {name} " not in output] == []


def test_version_is_the_version_of_the_package():
    assert RUN.invoke(app, ["--version"]).output == f"recherche {recherche.__version__}\n"


def test_an_unknown_command_is_answered_with_the_nearest_one():
    result = RUN.invoke(app, ["benc"])
    assert result.exit_code == 2
    assert "There is no command 'benc'; did you mean bench?" in result.stderr


@pytest.mark.usefixtures("with_commands")
def test_a_refusal_is_one_line_on_stderr_and_exit_code_2():
    result = RUN.invoke(app, ["refuse"])
    assert result.exit_code == 2
    assert result.stderr == "error: The graph holds [bold]3[/bold] loops; remove them.\n"
    assert result.stdout == ""


@pytest.mark.usefixtures("with_commands")
@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(["--debug", "refuse"], {}), (["refuse"], {DEBUG_VARIABLE: "1"})],
    ids=["option", "environment"],
)
def test_the_traceback_of_a_refusal_can_be_asked_for(arguments: list[str], environment: dict[str, str]):
    assert isinstance(RUN.invoke(app, arguments, env=environment).exception, InputError)


@pytest.mark.usefixtures("with_commands")
def test_a_bug_is_not_reported_as_a_refusal():
    assert isinstance(RUN.invoke(app, ["stumble"]).exception, ValueError)


@pytest.mark.usefixtures("with_commands")
def test_an_interrupt_ends_with_130():
    assert RUN.invoke(app, ["interrupt"]).exit_code == 130


@pytest.mark.usefixtures("with_commands")
def test_a_group_with_one_command_keeps_the_name_of_the_command():
    result: Any = RUN.invoke(app, ["group", "run"])
    assert result.output == "ran\n"


SPIN = """
from recherche.cli import main
import os, sys
sys.argv = ["recherche", "list", "--help"]
try:
    main()
finally:
    print("torch" in sys.modules, os.environ["OMP_WAIT_POLICY"])
"""


@pytest.mark.parametrize(("chosen", "expected"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")], ids=str)
def test_threads_that_wait_leave_the_cores_alone_unless_told_otherwise(chosen: dict[str, str], expected: str):
    inherited = {name: value for name, value in os.environ.items() if name != WAIT_POLICY}
    result = subprocess.run([sys.executable, "-c", SPIN], env=inherited | chosen, capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == f"False {expected}"


def test_the_script_runs():
    program = "from recherche.cli import main; import sys; sys.argv = ['recherche', 'nonsense']; main()"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("error: There is no command 'nonsense'")
