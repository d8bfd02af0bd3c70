"""Draws language models on texts of growing length: accuracy over n, and the bits of their states over n.

Left, a colour for each model; a solid line with full signs where it searches, a dashed one with hollow signs where it
answers at once; shades are 95 % intervals; a cross at the foot is an n that was refused. Right, the bits of the live
state after the prompt, and the line that the task needs: below it no reader of the text is always right, unless it
looks into the text again.

Reference: Wen, Dang & Lyu (2024), Theorem 4.6, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from recherche.report.appearance import ARCHITECTURE_COLOURS, INK, MUTED, OTHER_COLOURS, RULE
from recherche.report.figures import STYLE
from recherche.report.numerals import decimal, short_number
from recherche.report.text_results import PROTOCOLS, Measured, TextPoint, TextRun, line_of, sizes_of

PROTOCOL_NAMES = {"direct": "direct", "search": "searching"}
_DRAWN: dict[str, dict[str, Any]] = {
    "direct": {"linestyle": "--", "markerfacecolor": "white"},
    "search": {"linestyle": "-"},
}
_WIDTHS = (5.2, 3.6)
_MAX_TICKS = 9
_WIDTH, _WIDER = 1.5, 1.3
"""Width of a curve, and how much wider is the one that lies under it."""


def colours_of_models(points: Iterable[TextPoint]) -> dict[str, str]:
    """A colour for each model: that of its architecture if it is free, else the next free one.

    A model is of an architecture if its name or its family begins with it, as `mamba2` does.
    """
    colours: dict[str, str] = {}
    free = [*ARCHITECTURE_COLOURS.values(), *OTHER_COLOURS]
    families = {point.folder: point.model_type for point in points}
    for model, family in families.items():
        own = [c for name, c in ARCHITECTURE_COLOURS.items() if model.startswith(name) or family.startswith(name)]
        if own and own[0] in free:
            colours[model] = own[0]
            free.remove(own[0])
    for model in families:
        if model not in colours:
            colours[model] = free.pop(0) if free else MUTED
    return {model: colours[model] for model in families}


def gid_of(point: TextPoint, *, what: str) -> str:
    """The id of a point's sign."""
    return f"bar-{what}-{point.point}"


def titles_of(points: Iterable[TextPoint]) -> dict[str, str]:
    """What a reader sees who points at a sign, by the sign's id."""
    titles = {}
    for point in points:
        name = f"{point.folder}, {PROTOCOL_NAMES.get(point.protocol, point.protocol)}, n = {point.n:,}"
        if point.refused is not None:
            titles[gid_of(point, what="refused")] = f"{name}: refused, {point.refused}"
        elif point.accuracy is not None:
            low, high = decimal(point.accuracy_low or 0.0), decimal(point.accuracy_high or 0.0)
            titles[gid_of(point, what="accuracy")] = f"{name}: {decimal(point.accuracy)} [{low}, {high}]"
            titles[gid_of(point, what="bits")] = (
                f"{point.folder}, n = {point.n:,}: {short_number(point.state_bits)} bits"
            )
    return titles


def draw_accuracy(axes: Axes, points: Sequence[TextPoint], colours: Mapping[str, str]) -> None:
    """Accuracy over n; all points are of one task."""
    axes.set_title(f"{points[0].task}: accuracy")
    models = tuple(dict.fromkeys(point.folder for point in points))
    for layer, model in enumerate(models):
        # Curves that lie on each other, such as all that are 1, show as stripes.
        width = _WIDTH + _WIDER * (len(models) - 1 - layer)
        for protocol in PROTOCOLS:
            line = line_of(points, model, task=points[0].task, protocol=protocol)
            _draw_line(axes, line, colours[model], _DRAWN[protocol] | {"linewidth": width})
    for point in points:
        if point.refused is not None:
            [sign] = axes.plot([point.n], [0.0], "x", color=colours[point.folder], markersize=6, clip_on=False)
            sign.set_gid(gid_of(point, what="refused"))
    axes.set_ylim(0, 1.04)
    axes.set_ylabel("accuracy")
    _frame(axes, points)


def _draw_line(axes: Axes, line: Sequence[Measured], colour: str, drawn: Mapping[str, Any]) -> None:
    sizes = [measured.point.n for measured in line]
    axes.fill_between(sizes, [m.low for m in line], [m.high for m in line], color=colour, alpha=0.16, linewidth=0)
    shape = {name: drawn[name] for name in ("linestyle", "linewidth")}
    axes.plot(sizes, [m.accuracy for m in line], color=colour, **shape)
    for measured in line:
        face = drawn.get("markerfacecolor", colour)
        place = ([measured.point.n], [measured.accuracy])
        size = 3.5 + drawn["linewidth"]
        [sign] = axes.plot(*place, "o", color=colour, markerfacecolor=face, markersize=size, clip_on=False)
        sign.set_gid(gid_of(measured.point, what="accuracy"))


def draw_bits(axes: Axes, points: Sequence[TextPoint], colours: Mapping[str, str]) -> None:
    """Bits of state over n, and the bits that the task needs; all points are of one task."""
    axes.set_title(f"{points[0].task}: bits of state after the prompt")
    needed = {point.n: point.required_bits for point in points if point.required_bits}
    bound = sorted((n, bits) for n, bits in needed.items() if bits)
    heights = [bits for _, bits in bound] + [point.state_bits for point in points if point.state_bits]
    bottom = min(heights, default=1) / 3
    if bound:
        sizes, bits = zip(*bound, strict=True)
        axes.fill_between(sizes, [bottom] * len(bits), bits, color=RULE, alpha=0.6, linewidth=0)
        axes.plot(sizes, bits, "--", color=INK, linewidth=1.1)
    for model, colour in colours.items():
        state = {point.n: point for point in points if point.folder == model and point.state_bits}
        line = [state[n] for n in sorted(state)]
        axes.plot([p.n for p in line], [p.state_bits or 0 for p in line], color=colour, linewidth=1.5)
        for point in line:
            [sign] = axes.plot([point.n], [point.state_bits or 0], "o", color=colour, markersize=4)
            sign.set_gid(gid_of(point, what="bits"))
    axes.set_yscale("log")
    axes.set_ylim(bottom, 3 * max(heights, default=1))
    axes.yaxis.set_major_formatter(lambda value, _: short_number(value))
    axes.yaxis.set_minor_locator(NullLocator())
    _frame(axes, points)


def _frame(axes: Axes, points: Sequence[TextPoint]) -> None:
    sizes = sizes_of(points)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes[:: 1 + (len(sizes) - 1) // _MAX_TICKS]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set(xlim=(sizes[0] * 0.85, sizes[-1] * 1.18), xlabel="n")


def text_figure(run: TextRun, colours: Mapping[str, str]) -> Figure:
    """All tasks below each other, with a legend."""
    with rc_context(STYLE):
        figure = Figure(figsize=(sum(_WIDTHS) + 0.3, 2.9 * len(run.tasks) + 0.7), layout="constrained")
        grid = figure.subplots(len(run.tasks), 2, squeeze=False, width_ratios=_WIDTHS)
        for row, task in zip(grid, run.tasks, strict=True):
            points = [point for point in run.points if point.task == task]
            draw_accuracy(row[0], points, colours)
            draw_bits(row[1], points, colours)
        figure.legend(handles=_legend(colours, run.points), loc="outside lower center", ncols=6, frameon=False)
    return figure


def _legend(colours: Mapping[str, str], points: Sequence[TextPoint]) -> list[Any]:
    handles: list[Any] = [Line2D([], [], color=colour, linewidth=3, label=model) for model, colour in colours.items()]
    for protocol in PROTOCOLS:
        if any(point.protocol == protocol for point in points):
            handles.append(
                Line2D(
                    [], [], color=MUTED, marker="o", markersize=5, label=PROTOCOL_NAMES[protocol], **_DRAWN[protocol]
                )
            )
    handles.append(Patch(color=MUTED, alpha=0.2, label="95 % interval"))
    if any(point.required_bits for point in points):
        handles.append(Line2D([], [], color=INK, linestyle="--", label="bits that the task needs"))
    if any(point.refused is not None for point in points):
        handles.append(Line2D([], [], color=MUTED, marker="x", linestyle="", label="refused"))
    return handles
