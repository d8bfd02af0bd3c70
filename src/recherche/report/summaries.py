"""Cells that differ only in their seed, taken together.

The accuracy of a group is the mean over its seeds; its interval runs from the lowest lower end to the highest upper
end of the seeds' own 95 % intervals, so that it also shows how far seeds lie apart.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, final

from recherche.report.appearance import ARCHITECTURE_LABELS, PROTOCOL_LABELS, in_order
from recherche.report.results import CellResult


@final
class Key(NamedTuple):
    """What the cells of a group have in common."""

    architecture: str
    protocol: str
    n_nodes: int
    size: str


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """The cells of one group, a seed each."""

    key: Key
    cells: tuple[CellResult, ...]

    @property
    def accuracy(self) -> float:
        """Mean over the seeds."""
        return sum(cell.accuracy for cell in self.cells) / len(self.cells)

    @property
    def low(self) -> float:
        """The lowest lower end."""
        return min(cell.accuracy_low for cell in self.cells)

    @property
    def high(self) -> float:
        """The highest upper end."""
        return max(cell.accuracy_high for cell in self.cells)

    @property
    def finished_curriculum(self) -> bool:
        """Whether every seed trained up to the n that is measured."""
        return all(cell.finished_curriculum for cell in self.cells)


def key_of(cell: CellResult) -> Key:
    """The group that a cell belongs to."""
    return Key(cell.architecture, cell.protocol, cell.n_nodes, cell.size)


def summarise(results: Iterable[CellResult]) -> dict[Key, Summary]:
    """The groups of the results, by key; protocols and architectures in the paper's order, then n and size."""
    cells: dict[Key, list[CellResult]] = {}
    for result in results:
        cells.setdefault(key_of(result), []).append(result)
    protocols = in_order((key.protocol for key in cells), PROTOCOL_LABELS)
    architectures = in_order((key.architecture for key in cells), ARCHITECTURE_LABELS)
    ordered = sorted(
        cells,
        key=lambda k: (protocols.index(k.protocol), k.n_nodes, k.size, architectures.index(k.architecture)),
    )
    return {key: Summary(key, tuple(cells[key])) for key in ordered}
