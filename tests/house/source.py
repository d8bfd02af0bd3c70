"""The source tree as the house tests see it, read without importing: files, names, and which file imports which."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "recherche"


@dataclass(frozen=True)
class Module:
    """One Python file of the package, or a made-up one that a test hands in."""

    name: str  # dotted, `recherche.tasks.base`; a package's `__init__` has the package's name
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def top(self) -> str:
        """The first name below `recherche`: the package or file that has a rank; empty for the root itself."""
        return ".".join(self.name.split(".")[1:2])

    def imports(self) -> Iterator[str]:
        """Dotted names that the file imports, wherever in the file; `from a import b` gives `a.b`."""
        yield from self._imports_below(self.tree)

    def imports_when_run(self) -> Iterator[str]:
        """The same without what only a type checker reads."""
        for node in self.tree.body:
            if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
                yield from self._imports_below(node)

    def _imports_below(self, root: ast.AST) -> Iterator[str]:
        for node in ast.walk(root):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name} imports relatively; write the full name"
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_name(path: Path) -> str:
    """The dotted name of a file below `src/`."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_modules() -> dict[str, Module]:
    """Every module of the package by name."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {module_name(path): Module(module_name(path), path.read_text(encoding="utf-8")) for path in paths}


def target_of(imported: str, known: set[str]) -> str:
    """The module among `known` that an imported dotted name belongs to; empty if it is not one of ours."""
    parts = imported.split(".")
    candidates = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in candidates if name in known), "")
