import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recherche.cli import bench
from recherche.cli.app import app
from recherche.errors import ConfigError

RUN = CliRunner()
MEASURED = """
from benchmarks.harness import Line

def lines():
    yield Line.from_rates("walk", (30.0, 10.0), reference_name="crawl", unit="m/s", n=8)
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one made-up benchmark; the module itself is looked up in the real one's package."""
    (tmp_path / "benchmarks").mkdir()
    shutil.copy(bench.source_root() / "benchmarks" / "harness.py", tmp_path / "benchmarks")
    (tmp_path / "benchmarks" / "walk_for_tests.py").write_text(MEASURED)
    monkeypatch.setattr(bench, "source_root", lambda: tmp_path)
    return tmp_path


@pytest.mark.usefixtures("clone")
def test_json_has_one_object_per_line_and_no_empty_fields():
    result = RUN.invoke(app, ["bench", "walk_for_tests", "--json"])
    assert json.loads(result.stdout) == {
        "name": "walk", "ours": 30.0, "reference": 10.0, "reference_name": "crawl", "ratio": 3.0, "unit": "m/s", "n": 8
    }  # fmt: skip


@pytest.mark.usefixtures("clone")
def test_the_table_shows_the_ratio():
    assert "3.0x" in RUN.invoke(app, ["bench", "walk_for_tests"]).stdout


@pytest.mark.usefixtures("clone")
def test_an_unknown_benchmark_is_answered_with_the_nearest_one():
    result = RUN.invoke(app, ["bench", "walk_for_test"])
    assert result.exit_code == 2
    assert "did you mean walk_for_tests?" in result.stderr


def test_a_package_to_measure_beside_that_is_not_installed_is_named(clone: Path):
    (clone / "benchmarks" / "lonely_for_tests.py").write_text("def lines():\n    import no_such_peer\n    yield\n")
    result = RUN.invoke(app, ["bench", "lonely_for_tests"])
    assert result.exit_code == 2
    assert "measures beside no_such_peer, which is not installed; install what the tests need" in result.stderr


def test_outside_a_clone_benchmarks_are_refused_with_what_to_do(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"no benchmarks/ folder in .*Clone the repository"):
        bench.load_benchmark("data", tmp_path)


def test_every_benchmark_of_the_clone_has_lines():
    root = bench.source_root()
    names = [path.stem for path in (root / "benchmarks").glob("*.py") if path.stem != bench.HARNESS]
    assert [name for name in names if not hasattr(bench.load_benchmark(name, root), "lines")] == []
