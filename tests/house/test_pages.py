"""What the pages say exists: links lead somewhere, commands and options are there, the examples of the README run."""

import doctest
import re
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from recherche.cli.app import COMMANDS, app
from tests.house.source import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
COMMAND = re.compile(r"(?:^|[`\s])recherche ([a-z][a-z-]*)((?: +[^`|#\n]+)?)", re.MULTILINE)
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")


def code_of(text: str) -> str:
    """Everything between backquotes, inline and in blocks."""
    blocks = re.findall(r"```.*?```", text, re.DOTALL)
    return "\n".join([*blocks, *re.findall(r"`[^`\n]+`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))])


def broken_links(text: str, folder: Path) -> list[str]:
    """Relative links that lead nowhere."""
    links = [link for link in LINK.findall(text) if "://" not in link and not link.startswith("mailto:")]
    return [link for link in links if not (folder / link).exists()]


def options_of(name: str) -> set[str]:
    """All options of a command and of the commands below it."""
    context = typer.Context(get_command(app))
    found: set[str] = set()
    queue = [get_command(app).get_command(context, name)]  # type: ignore[attr-defined]
    for command in queue:
        found |= {option for parameter in command.params for option in parameter.opts}
        queue += getattr(command, "commands", {}).values()
    return found | {"--help"}


def unknown_commands(text: str) -> list[str]:
    """Commands and options that a page names and the command line does not have."""
    problems = []
    for name, rest in COMMAND.findall(code_of(text)):
        if name not in COMMANDS:
            problems.append(f"recherche {name}")
        else:
            problems += [f"recherche {name} {option}" for option in set(OPTION.findall(rest)) - options_of(name)]
    return problems


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path):
    assert broken_links(page.read_text(encoding="utf-8"), page.parent) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_exists(page: Path):
    assert unknown_commands(page.read_text(encoding="utf-8")) == []


def test_the_readme_shows_every_command():
    shown = {name for name, _ in COMMAND.findall((ROOT / "README.md").read_text(encoding="utf-8"))}
    assert set(COMMANDS) <= shown


def test_the_examples_of_the_readme_run():
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted >= 4
    assert result.failed == 0


def test_a_broken_link_and_an_unknown_command_are_named():
    text = "See [this](no/such/file.md) and [that](https://example.org); run `recherche benc` or `recherche list --al`."
    assert broken_links(text, ROOT) == ["no/such/file.md"]
    assert unknown_commands(text) == ["recherche benc", "recherche list --al"]
