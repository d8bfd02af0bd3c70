"""Draws Figure 6: accuracy over the number of paragraphs, beside that with two, for facts anywhere and facts last.

A colour for each model; a solid line with full signs where it searches, a dashed one with hollow signs where it answers
at once, as on the other pages of language models; shades are 95 % intervals, divided by the same accuracy as the curve.
Of curves that lie on each other the lower ones are wider, and show as stripes.

Reference: Wen, Dang & Lyu (2024), Figure 6, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from recherche.report.appearance import INK, RULE
from recherche.report.figures import STYLE
from recherche.report.hotpot_results import HotpotPoint, HotpotRun
from recherche.report.numerals import decimal
from recherche.report.text_figures import PROTOCOL_NAMES

ORDER_LABELS = MappingProxyType({"random": "(a) random order", "last": "(b) facts last"})
WIDTH, HEIGHT = 4.4, 3.0
_SIGN, _CURVE, _WIDER = 5.0, 1.4, 1.3
_HOLLOW = "direct"


@final
class Height(NamedTuple):
    """What is drawn upwards.

    Attributes:
        unit: what an accuracy is divided by; None leaves the point out.
    """

    name: str
    label: str
    unit: Callable[[HotpotRun, HotpotPoint], float | None]


RELATIVE = Height("relative", "accuracy / accuracy with two paragraphs", HotpotRun.base)
ABSOLUTE = Height("absolute", "accuracy (exact match)", lambda run, point: 1.0)


def relative(run: HotpotRun, point: HotpotPoint) -> float | None:
    """Accuracy beside that with two paragraphs; None where that is 0 or was not measured."""
    base = run.base(point)
    return None if base is None else point.accuracy / base


def titles_of(run: HotpotRun, height: Height) -> dict[str, str]:
    """What a reader sees who points at a sign, by the sign's id."""
    titles = {}
    for point in run.points:
        share = relative(run, point)
        beside = "" if share is None else f", {share:.3f} of that with two paragraphs"
        interval = f"[{decimal(point.accuracy_low)}, {decimal(point.accuracy_high)}]"
        titles[_gid_of(point, height)] = (
            f"{point.folder}, {PROTOCOL_NAMES.get(point.protocol, point.protocol)}, {point.n} paragraphs: "
            f"{decimal(point.accuracy)} {interval}{beside}"
        )
    return titles


def draw_order(axes: Axes, run: HotpotRun, order: str, colours: Mapping[str, str], *, height: Height) -> None:
    """Draw one panel."""
    axes.set_title(ORDER_LABELS.get(order, order))
    axes.axhline(1.0, color=RULE, linewidth=0.8)
    top = 1.0
    for layer, model in enumerate(reversed(run.models)):
        width = _CURVE + _WIDER * (len(run.models) - 1 - layer)
        for protocol in PROTOCOL_NAMES:
            line = [(p, unit) for p in run.line(model, protocol, order) if (unit := height.unit(run, p))]
            top = max([top, *(point.accuracy / unit for point, unit in line)])
            _draw_line(axes, line, colours[model], height, width=width)
    axes.set_ylim(0, 1.04 * top)
    axes.set_xticks(run.sizes)
    axes.set_xlim(run.sizes[0] - 0.35, run.sizes[-1] + 0.35)
    axes.set(xlabel="paragraphs", ylabel=height.label)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_line(axes: Axes, line: list[tuple[HotpotPoint, float]], colour: str, height: Height, *, width: float) -> None:
    if not line:
        return
    sizes = [point.n for point, _ in line]
    hollow = line[0][0].protocol == _HOLLOW
    lows, highs = zip(*((point.accuracy_low / unit, point.accuracy_high / unit) for point, unit in line), strict=True)
    axes.fill_between(sizes, lows, highs, color=colour, alpha=0.13, linewidth=0)
    values = [point.accuracy / unit for point, unit in line]
    axes.plot(sizes, values, color=colour, linewidth=width, linestyle="--" if hollow else "-")
    for (point, _), value in zip(line, values, strict=True):
        face = "white" if hollow else colour
        size = _SIGN - _CURVE + width
        [sign] = axes.plot([point.n], [value], "o", color=colour, markerfacecolor=face, markersize=size, clip_on=False)
        sign.set_gid(_gid_of(point, height))


def hotpot_figure(run: HotpotRun, colours: Mapping[str, str]) -> Figure:
    """The two panels of Figure 6 with a legend; a single one if one order was measured."""
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * len(run.orders), HEIGHT + 0.5), layout="constrained")
        grid = figure.subplots(1, len(run.orders), squeeze=False)
        for axes, order in zip(grid[0], run.orders, strict=True):
            draw_order(axes, run, order, colours, height=RELATIVE)
        handles = [Line2D([], [], color=colours[model], linewidth=2, label=model) for model in run.models]
        for protocol, name in PROTOCOL_NAMES.items():
            if any(point.protocol == protocol for point in run.points):
                hollow = protocol == _HOLLOW
                face, style = ("white", "--") if hollow else (INK, "-")
                shape = dict(marker="o", markersize=_SIGN, markerfacecolor=face, linestyle=style, linewidth=_CURVE)
                handles.append(Line2D([], [], color=INK, label=name, **shape))  # type: ignore[arg-type]
        figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _gid_of(point: HotpotPoint, height: Height) -> str:
    return f"bar-{height.name}-{point.point}"
