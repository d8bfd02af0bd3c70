"""Results arranged as groups of bars: what is drawn, not how.

panel    one protocol; its groups are sizes n, its series architectures (and model sizes, if there are several)
bar      accuracy, interval, one dot for each seed, the paper's value; or a note that says why there is no bar
guide    a level across one group: the best guess that hub degrees allow
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple, final

from recherche.report.appearance import (
    ARCHITECTURE_COLOURS,
    ARCHITECTURE_LABELS,
    OTHER_COLOURS,
    PROTOCOL_LABELS,
    architecture_label,
    colours_of,
    in_order,
    protocol_label,
)
from recherche.report.numerals import percent
from recherche.report.paper_values import paper_accuracy
from recherche.report.results import CellName, Run, distinct
from recherche.report.summaries import Key, Summary, summarise
from recherche.tasks.hub_degrees import best_guess_accuracy


@final
@dataclass(frozen=True, slots=True)
class Series:
    """Bars that look alike.

    Attributes:
        strength: opacity of the colour, to tell apart series of one colour.
    """

    label: str
    colour: str
    strength: float = 1.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar, or the place where it is missing.

    Attributes:
        group: index of the group of the panel.
        series: index of the series of the panel.
        value: accuracy; None where nothing was measured.
        points: the single seeds, if there are several.
        paper: the paper's value.
        note: why there is no bar.
        title: what a reader sees who points at the bar.
    """

    group: int
    series: int
    value: float | None = None
    low: float = 0.0
    high: float = 0.0
    points: tuple[float, ...] = ()
    paper: float | None = None
    note: str = ""
    title: str = ""


@final
@dataclass(frozen=True, slots=True)
class Guide:
    """A level that holds across one group."""

    group: int
    value: float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BarPanel:
    """Groups of bars with one title."""

    title: str
    groups: tuple[str, ...]
    series: tuple[Series, ...]
    bars: tuple[Bar, ...]
    guides: tuple[Guide, ...] = ()


@final
class _Cell(NamedTuple):
    """Where a cell stands in the figure, and why it has no bar."""

    key: Key
    note: str = ""


def accuracy_panels(run: Run) -> list[BarPanel]:
    """The paper's main figure: a panel for each protocol, groups by n, a bar for each architecture and size."""
    summaries = summarise(run.results)
    cells = [*map(_Cell, summaries), *_absent_cells(run)]
    architectures = in_order((cell.key.architecture for cell in cells), ARCHITECTURE_LABELS)
    ns = distinct([cell.key.n_nodes for cell in cells])
    return [
        _protocol_panel(summaries, [cell for cell in cells if cell.key.protocol == protocol], architectures, ns)
        for protocol in in_order((cell.key.protocol for cell in cells), PROTOCOL_LABELS)
    ]


def _protocol_panel(
    summaries: Mapping[Key, Summary], cells: Sequence[_Cell], architectures: Sequence[str], ns: Sequence[int]
) -> BarPanel:
    protocol = cells[0].key.protocol
    sizes = distinct([cell.key.size for cell in cells if cell.key.size]) or ("",)
    notes = {cell.key: cell.note for cell in reversed(cells)}
    bars = []
    for group, n in enumerate(ns):
        for series, (name, size) in enumerate((name, size) for name in architectures for size in sizes):
            key = Key(name, protocol, n, size)
            note = notes.get(key) or notes.get(key._replace(size=""), "")
            bars.append(_bar(summaries.get(key), note, group=group, series=series))
    return BarPanel(
        title=protocol_label(protocol),
        groups=tuple(f"n = {n}" for n in ns),
        series=_series(architectures, sizes),
        bars=tuple(bars),
        guides=tuple(Guide(g, float(best_guess_accuracy(n))) for g, n in enumerate(ns) if protocol == "direct"),
    )


def _absent_cells(run: Run) -> list[_Cell]:
    failed = {failure.cell for failure in run.record.failed}
    names = {failure.cell: CellName.parse(failure.cell) for failure in run.absent}
    return [
        _Cell(Key(name.architecture, name.protocol, name.n_nodes, name.size), "failed" if cell in failed else "not run")
        for cell, name in names.items()
        if name
    ]


def legend_of(panels: Sequence[BarPanel]) -> tuple[Series, ...]:
    """Every series that occurs in the panels, once."""
    return tuple(dict.fromkeys(series for panel in panels for series in panel.series))


def comparison_panels(runs: Sequence[Run], labels: Sequence[str]) -> list[BarPanel]:
    """Runs beside each other: a panel for each protocol and n, a group for each architecture, a bar for each run."""
    summaries = [summarise(run.results) for run in runs]
    keys = [key for table in summaries for key in table]
    shades = cycle((*OTHER_COLOURS, *ARCHITECTURE_COLOURS.values()))
    series = tuple(map(Series, labels, shades))
    panels = []
    for protocol in in_order((key.protocol for key in keys), PROTOCOL_LABELS):
        for n in distinct([key.n_nodes for key in keys if key.protocol == protocol]):
            here = [key for key in keys if (key.protocol, key.n_nodes) == (protocol, n)]
            rows = [
                (a, size)
                for a in in_order((k.architecture for k in here), ARCHITECTURE_LABELS)
                for size in distinct([k.size for k in here if k.architecture == a])
            ]
            several = len({size for _, size in rows}) > 1
            bars = [
                _bar(table.get(Key(name, protocol, n, size)), "", group=g, series=s)
                for g, (name, size) in enumerate(rows)
                for s, table in enumerate(summaries)
            ]
            panels.append(
                BarPanel(
                    title=f"{protocol_label(protocol)}, n = {n}",
                    groups=tuple(architecture_label(a) + (f"\n{size}" if several else "") for a, size in rows),
                    series=series,
                    bars=tuple(bars),
                    guides=tuple(
                        Guide(g, float(best_guess_accuracy(n))) for g in range(len(rows)) if protocol == "direct"
                    ),
                )
            )
    return panels


def _series(architectures: Sequence[str], sizes: Sequence[str]) -> tuple[Series, ...]:
    colours = colours_of(architectures)
    several = len(sizes) > 1
    return tuple(
        Series(
            architecture_label(name) + (f" {size}" if several else ""),
            colours[name],
            strength=(i + 1) / len(sizes),
        )
        for name in architectures
        for i, size in enumerate(sizes)
    )


def _bar(summary: Summary | None, note: str, *, group: int, series: int) -> Bar:
    if summary is None:
        return Bar(group=group, series=series, note=note)
    key = summary.key
    paper = paper_accuracy(architecture=key.architecture, protocol=key.protocol, n_nodes=key.n_nodes, size=key.size)
    accuracies = tuple(cell.accuracy for cell in summary.cells)
    title = (
        f"{architecture_label(key.architecture)}, {protocol_label(key.protocol).lower()}, n = {key.n_nodes}: "
        f"{percent(summary.accuracy)} [{percent(summary.low)}, {percent(summary.high)}]"
    )
    return Bar(
        group=group,
        series=series,
        value=summary.accuracy,
        low=summary.low,
        high=summary.high,
        points=accuracies if len(accuracies) > 1 else (),
        paper=paper,
        title=title + ("" if paper is None else f"; the paper: about {paper:.2f}"),
    )
