"""`recherche bench`: run a side-by-side benchmark of a clone's `benchmarks/` folder."""

import json
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recherche._lookup import lookup
from recherche.errors import ConfigError

HARNESS = "harness"


def bench(
    name: Annotated[str, typer.Argument(help="A file of benchmarks/ without .py, such as data, train or search.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, as it is measured.")] = False,
) -> None:
    """Measure ours and a reference in one run; a ratio above 1 means that ours is better.

    [bold]Examples[/bold]

      recherche bench data             beside a plain Python generator
      recherche bench search --json    one JSON object per line

    Benchmarks are part of a clone, not of the wheel.
    """
    lines = load_benchmark(name, source_root()).lines()
    try:
        if as_json:
            for line in lines:
                print(json.dumps(line.as_json()), flush=True)
        else:
            Console().print(table_of(lines))
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"`recherche bench {name}` measures beside {error.name}, which is not installed; "
            "install what the tests need (pip install -e '.[test]')."
        ) from error


def source_root() -> Path:
    """The folder that holds `src/recherche`: the clone, if the package is installed from one."""
    return Path(__file__).resolve().parents[3]


def load_benchmark(name: str, root: Path) -> Any:
    """The benchmark module called `name` in the clone at `root`.

    Raises:
        ConfigError: there is no such benchmark, or no clone around the installed package.
    """
    folder = root / "benchmarks"
    if not (folder / f"{HARNESS}.py").is_file():
        raise ConfigError(
            f"Benchmarks are not part of the installed package: no benchmarks/ folder in {root}. "
            "Clone the repository and install from there (pip install -e .)."
        )
    files = sorted(folder.glob("*.py"))
    modules = {file.stem: f"benchmarks.{file.stem}" for file in files if file.stem not in (HARNESS, "__init__")}
    module = lookup(MappingProxyType(modules), name, what="benchmark")
    sys.path.insert(0, str(root))
    try:
        return import_module(module)
    finally:
        sys.path.remove(str(root))


def table_of(lines: Iterable[Any]) -> Table:
    """The lines as a table for the terminal."""
    table = Table("name", "n", "ours", "reference", "unit", "ratio", "growth", "beside")
    for column in table.columns[1:4]:
        column.justify = "right"
    for line in lines:
        table.add_row(
            line.name,
            "" if line.n is None else f"{line.n:,}",
            f"{line.ours:.4g}",
            f"{line.reference:.4g}",
            line.unit,
            f"{line.ratio:.1f}x",
            "" if line.growth is None else f"{line.growth:.2f}x",
            line.reference_name,
        )
    return table
