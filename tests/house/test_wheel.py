"""The wheel is pure, complete, and its command line runs from an environment that has never seen the clone."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.house.source import ROOT

pytestmark = pytest.mark.slow


def run(*command: str | Path, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a command printed; its own environment variables are added to ours."""
    return subprocess.run(
        [str(part) for part in command],
        check=check, capture_output=True, text=True, cwd="/", env={**os.environ, **environment},
    )  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the sources."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist", copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of an empty environment into which the wheel alone was installed."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    return environment / "bin"


def installed(bin_folder: Path, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a script of the environment; dependencies come from ours, whose path files (the clone) are not followed."""
    return run(bin_folder / command[0], *command[1:], check=check, PYTHONPATH=sysconfig.get_paths()["purelib"])


def test_the_wheel_is_pure(wheel: Path):
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_holds_every_file_of_the_package(wheel: Path):
    package = ROOT / "src" / "recherche"
    files = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    missing = {f"recherche/{path.relative_to(package)}" for path in files} - set(zipfile.ZipFile(wheel).namelist())
    assert missing == set()


def test_the_package_comes_from_the_wheel(bin_folder: Path):
    found = installed(bin_folder, "python", "-c", "import recherche; print(recherche.__file__)").stdout
    assert found.startswith(str(bin_folder.parent))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--version"], "recherche "),
        (["--help"], "Reproduce the paper"),
        (["list", "machines", "--json"], '"increment"'),
        (["sample", "istree", "--n-nodes", "6", "--num", "1", "--format", "jsonl"], '"prompt"'),
    ],
    ids=["version", "help", "machines", "sample"],
)
def test_the_command_line_runs_from_the_wheel(bin_folder: Path, arguments: list[str], expected: str):
    assert expected in installed(bin_folder, "recherche", *arguments).stdout


def test_benchmarks_say_that_they_need_a_clone(bin_folder: Path):
    result = installed(bin_folder, "recherche", "bench", "data", check=False)
    assert result.returncode == 2
    assert "Clone the repository" in result.stderr
