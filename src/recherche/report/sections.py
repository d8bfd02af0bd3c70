"""The parts of a page that take a choice: which plots, which examples, which facts about the run."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, final

from markupsafe import Markup

from recherche.report.appearance import (
    ARCHITECTURE_LABELS,
    PROTOCOL_LABELS,
    architecture_label,
    colours_of,
    in_order,
    protocol_label,
)
from recherche.report.examples import Example, read_examples
from recherche.report.figures import (
    LEVEL,
    LOSS,
    VALIDATION,
    CurveKind,
    draw_bars,
    draw_curves,
    panel_width,
    single_panel,
)
from recherche.report.inline_svg import inline_svg
from recherche.report.learning import Curve, LearningCurves, read_learning_curves
from recherche.report.numerals import duration
from recherche.report.panels import BarPanel, Series
from recherche.report.paper_values import SIZES
from recherche.report.results import CellResult, Run, distinct
from recherche.report.trace_steps import ShownExample, show

MAX_EXAMPLES = 2
PROTOCOLS_BY_INTEREST = ("retrieval", "cot", "direct")


@final
class Plot(NamedTuple):
    """A drawn plot and its natural width in inches."""

    svg: Markup
    width: float


@final
class PlotSection(NamedTuple):
    """Plots beside each other, under a title."""

    title: str
    plots: tuple[Plot, ...]


@final
class ExampleGroup(NamedTuple):
    """The examples of one architecture, each with a name."""

    architecture: str
    label: str
    shown: tuple[tuple[str, ShownExample], ...]


def bar_plots(panels: Sequence[BarPanel]) -> list[Plot]:
    """Every panel as a plot of its own, so that a narrow page can stack them."""
    return [_bar_plot(panel, prefix=f"bars-{i}") for i, panel in enumerate(panels)]


def _bar_plot(panel: BarPanel, *, prefix: str) -> Plot:
    width = panel_width(panel)
    titles = {f"bar-{bar.group}-{bar.series}": bar.title for bar in panel.bars}
    figure = single_panel(lambda axes: draw_bars(axes, panel), width=width, height=2.9)
    return Plot(inline_svg(figure, prefix=prefix, label=f"Accuracy: {panel.title}", titles=titles), width)


def marks_of(panels: Sequence[BarPanel], run_sizes: Iterable[str]) -> dict[str, bool]:
    """Which marks a legend has to explain."""
    bars = [bar for panel in panels for bar in panel.bars]
    paper = any(bar.paper is not None for bar in bars)
    return {
        "interval": any(bar.value is not None for bar in bars),
        "seeds": any(bar.points for bar in bars),
        "paper": paper,
        "guide": any(panel.guides for panel in panels),
        "paper_stand_in": paper and any(size not in SIZES for size in run_sizes),
    }


def learning_sections(run: Run) -> list[PlotSection]:
    """Curves of all cells that have any, by protocol and n."""
    colours = colours_of(in_order((result.architecture for result in run.results), ARCHITECTURE_LABELS))
    kinds = distinct([(result.n_nodes, result.protocol) for result in run.results])
    sections: list[PlotSection] = []
    for protocol in in_order((protocol for _, protocol in kinds), PROTOCOL_LABELS):
        for n_nodes in [n for n, p in kinds if p == protocol]:
            cells = [result for result in run.results if (result.protocol, result.n_nodes) == (protocol, n_nodes)]
            sizes = distinct([cell.size for cell in cells])
            curves = [
                (_series_of(cell, colours, sizes), read_learning_curves(run.cell_folder(cell.cell))) for cell in cells
            ]
            if any(curve.loss.samples for _, curve in curves):
                prefix = f"curves-{len(sections)}"
                title = f"{protocol_label(protocol)}, n = {n_nodes}"
                sections.append(PlotSection(title, _learning_plots(curves, prefix=prefix)))
    return sections


def _series_of(result: CellResult, colours: dict[str, str], sizes: Sequence[str]) -> Series:
    strength = (sizes.index(result.size) + 1) / len(sizes)
    return Series(architecture_label(result.architecture), colours[result.architecture], strength)


def _learning_plots(curves: Sequence[tuple[Series, LearningCurves]], *, prefix: str) -> tuple[Plot, ...]:
    kinds = [
        (LOSS, [(series, cell.loss) for series, cell in curves]),
        (LEVEL, [(series, cell.level) for series, cell in curves]),
        (VALIDATION, [(series, cell.validation) for series, cell in curves]),
    ]
    return tuple(
        _curve_plot(lines, kind=kind, prefix=f"{prefix}-{i}")
        for i, (kind, lines) in enumerate(kinds)
        if any(len(set(curve.values)) > 1 for _, curve in lines)
    )


def _curve_plot(lines: Sequence[tuple[Series, Curve]], *, kind: CurveKind, prefix: str) -> Plot:
    figure = single_panel(lambda axes: draw_curves(axes, lines, kind=kind), height=2.2, foot=0.46)
    return Plot(inline_svg(figure, prefix=prefix, label=f"Learning curves: {kind.title}"), 3.3)


def example_groups(run: Run) -> list[ExampleGroup]:
    """For each architecture some examples of each protocol, from the smallest cell that has any."""
    groups = []
    for architecture in in_order((result.architecture for result in run.results), ARCHITECTURE_LABELS):
        cells = sorted((r for r in run.results if r.architecture == architecture), key=lambda r: (r.n_nodes, r.seed))
        shown = [
            named
            for protocol in in_order((cell.protocol for cell in cells), PROTOCOLS_BY_INTEREST)
            for named in _examples_of([cell for cell in cells if cell.protocol == protocol], run)
        ]
        if shown:
            groups.append(ExampleGroup(architecture, architecture_label(architecture), tuple(shown)))
    return groups


def _examples_of(cells: Sequence[CellResult], run: Run) -> list[tuple[str, ShownExample]]:
    for cell in cells:
        examples = _telling(read_examples(run.cell_folder(cell.cell)))
        if examples:
            name = f"{protocol_label(cell.protocol)}, n = {cell.n_nodes}"
            return [
                (f"{name}, graph {i}", show(example, n_nodes=cell.n_nodes))
                for i, example in enumerate(examples, start=1)
            ]
    return []


def _telling(examples: Sequence[Example]) -> list[Example]:
    """A few examples, one of each outcome first: right and wrong, a tree and none."""
    outcomes: dict[tuple[bool, str], Example] = {}
    for example in examples:
        outcomes.setdefault((example.right, example.truth), example)
    first = sorted(outcomes.values(), key=lambda example: example.right)
    chosen = [*first, *(example for example in examples if example not in first)][:MAX_EXAMPLES]
    if any(example.right for example in first) and not any(example.right for example in chosen):
        chosen[-1] = next(example for example in first if example.right)
    return sorted(chosen, key=lambda example: not example.right)


def facts_of(run: Run) -> list[tuple[str, str]]:
    """The circumstances of a run in a few words each."""
    record = run.record
    started, finished = _time(record.started), _time(record.finished)
    seconds = record.wall_seconds or ((finished - started).total_seconds() if started and finished else None)
    seeds = distinct([result.seed for result in run.results])
    facts = [
        ("preset", record.preset),
        ("seed" if len(seeds) < 2 else "seeds", ", ".join(map(str, seeds or record.seeds))),
        ("cells", f"{len(run.results)} measured" + (f", {len(run.absent)} absent" if run.absent else "")),
        ("started", started.strftime("%Y-%m-%d %H:%M") if started else ""),
        ("took", "" if seconds is None else duration(seconds)),
        ("device", ", ".join(dict.fromkeys(r.device for r in run.results if r.device)) or record.device),
        ("recherche", str(record.versions.get("recherche", ""))),
    ]
    return [(name, value) for name, value in facts if value]


def configs_of(run: Run) -> list[tuple[str, str]]:
    """The configuration of each cell as text; a damaged one as it stands in the file."""
    texts = []
    for result in run.results:
        path = run.cell_folder(result.cell) / "config.json"
        if path.is_file():
            texts.append((result.cell, _pretty(path.read_text(encoding="utf-8", errors="replace"))))
    return texts


def _pretty(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except json.JSONDecodeError:
        return text


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
