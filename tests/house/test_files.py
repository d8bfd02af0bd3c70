"""One concept a file: short, named for what it holds, with a test file in the same place."""

from pathlib import Path

import pytest

from tests.house.source import PACKAGE, ROOT

MAX_LINES = 300
BANNED_NAMES = {"utils", "util", "helpers", "helper", "misc", "common", "manager", "args", "cfg"}
UNTESTED: dict[str, str] = {}  # file below src/recherche -> the reason why it has no test file of its own
SOURCELESS = {"house", "benchmarks"}  # folders of tests/ that look at the tree and at benchmarks/ instead


def source_files() -> list[Path]:
    """Files of the package, relative to it."""
    return sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def files_with_tests() -> list[Path]:
    """Files of the test suite that hold tests, relative to tests/."""
    return sorted(path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py"))


def mirror_of(source: Path) -> Path:
    """Where the tests of a source file live, relative to tests/."""
    return source.with_name(f"test_{source.name}")


def too_long(texts: dict[str, str]) -> list[str]:
    """Files with `MAX_LINES` lines or more."""
    return [name for name, text in texts.items() if text.count("\n") >= MAX_LINES]


def without_tests(sources: list[Path], tests: list[Path]) -> list[str]:
    """Source files that have no test file."""
    present = set(tests)
    return [str(path) for path in sources if path.name != "__init__.py" and mirror_of(path) not in present]


def without_source(sources: list[Path], tests: list[Path]) -> list[str]:
    """Test files that mirror no source file."""
    wanted = {mirror_of(path) for path in sources}
    return [str(path) for path in tests if path.parts[0] not in SOURCELESS and path not in wanted]


def banned(paths: list[Path]) -> list[str]:
    """Paths with a part that says nothing."""
    return [str(path) for path in paths if BANNED_NAMES & {part.removesuffix(".py").strip("_") for part in path.parts}]


def test_every_file_is_shorter_than_300_lines():
    folders = (PACKAGE, ROOT / "tests", ROOT / "benchmarks")
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    assert too_long({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}) == []


def test_every_source_file_has_its_test_file():
    assert without_tests(source_files(), files_with_tests()) == sorted(UNTESTED)


def test_every_test_file_has_its_source_file():
    assert without_source(source_files(), files_with_tests()) == []


def test_no_name_is_empty_of_meaning():
    assert banned(source_files()) == []


def test_a_long_file_is_named():
    assert too_long({"short.py": "x\n" * 299, "long.py": "x\n" * 300}) == ["long.py"]


def test_a_missing_and_a_stray_test_file_are_named():
    sources, tests = [Path("tasks/index.py"), Path("tasks/__init__.py")], [Path("tasks/test_gone.py")]
    assert without_tests(sources, tests) == ["tasks/index.py"]
    assert without_source(sources, tests) == ["tasks/test_gone.py"]


@pytest.mark.parametrize("path", ["tasks/utils.py", "helpers/graph.py", "tasks/_misc.py"])
def test_a_banned_name_is_named(path: str):
    assert banned([Path(path), Path("tasks/index.py")]) == [path]
