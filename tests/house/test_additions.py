"""A new mixer or task is one file and one line: done in a copy of the package, whose own contract tests find both."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.house.source import ROOT

IGNORED = shutil.ignore_patterns("__pycache__")


@pytest.fixture
def copy(tmp_path):
    """The package, and the contract tests that run over its tables; no mixer or task is in them by name."""
    shutil.copytree(ROOT / "src" / "recherche", tmp_path / "src" / "recherche", ignore=IGNORED)
    for name in ("conftest.py", "mixers/test_contract.py", "tasks/test_base.py"):
        (tmp_path / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests" / name)
    return tmp_path


def block(name: str) -> str:
    """The Python file of docs/own_models.md that defines `name`."""
    page = (ROOT / "docs" / "own_models.md").read_text(encoding="utf-8")
    [text] = [text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if f"class {name}(" in text]
    return text


def add(copy, home: str, name: str, text: str) -> None:
    """One file, and one line where the others are listed."""
    module = name.lower()
    (copy / "src" / "recherche" / home / f"{module}.py").write_text(text)
    table = copy / "src" / "recherche" / home / "__init__.py"
    line = f"from recherche.{home}.{module} import {name} as {name}\n"
    marker = f"from recherche.{home}.base import"
    table.write_text(table.read_text().replace(marker, line + marker, 1))


def run_tests(copy, file: str, *, chosen: str) -> "subprocess.CompletedProcess[str]":
    """pytest on one file of the copy."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{file}", "-k", chosen]
    paths = os.pathsep.join((str(copy / "src"), str(copy)))
    return subprocess.run(
        command, cwd=copy, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )


def named_decay() -> str:
    """The mixer of the page with a short name of its own."""
    text = block("DecayLayer").replace("    slowest", '    mixer: Literal["decay"] = "decay"\n    slowest', 1)
    return text.replace("from typing import", "from typing import Literal,", 1)


@pytest.mark.slow
def test_a_mixer_is_one_file_and_one_line(copy):
    add(copy, "mixers", "DecayLayer", named_decay())
    done = run_tests(copy, "mixers/test_contract.py", chosen="keeps_the_contract and decay")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9 passed" in done.stdout


@pytest.mark.slow
def test_a_mixer_that_breaks_the_contract_is_found_by_being_listed(copy):
    wrong = named_decay().replace("* state.h + x_t\n        return", "* state.h + 2 * x_t\n        return", 1)
    add(copy, "mixers", "DecayLayer", wrong)
    done = run_tests(copy, "mixers/test_contract.py", chosen="keeps_the_contract and decay and steps")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "outputs from init_state should agree" in done.stdout


@pytest.mark.slow
def test_a_task_is_one_file_and_one_line(copy):
    add(copy, "tasks", "Total", block("Total"))
    done = run_tests(copy, "tasks/test_base.py", chosen="total-direct")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9 passed" in done.stdout
