"""Draws a sweep: accuracy against state bits at the largest n, and accuracy against n, with the information bound.

Left, a sign for each model and size; a line joins the sizes of a model. Nobody can lie in the grey area: so few bits do
not allow such an accuracy (Fano, see `recherche.games.information`). A hollow sign is a model whose training used up
its steps before validation was solved. Right, the largest size of each model over n; the dashed line is the best that
the smallest state of fixed size in the sweep allows. For MQAR a dash-dotted line marks a reader that keeps which values
occurred and not with which keys: it answers the j-th question from the end rightly once in j times.

Reference: Wen, Dang & Lyu (2024), Theorem 4.6, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log2
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from recherche.games.information import best_accuracy
from recherche.report.appearance import INK, MUTED, RULE
from recherche.report.figures import STYLE
from recherche.report.numerals import decimal, short_number
from recherche.report.sweep_marks import PANELS, Mark
from recherche.report.sweep_results import SweepPoint, SweepRun, lines_of

TASK_LABELS = {"mqar": "MQAR", "index": "Index"}
_BOUND_POINTS = 200
_WIDTHS = (4.6, 2.7, 2.7, 2.7)


def task_label(name: str) -> str:
    """A task in prose.

    >>> task_label("mqar"), task_label("mine")
    ('MQAR', 'mine')
    """
    return TASK_LABELS.get(name, name)


def titles_of(points: Iterable[SweepPoint]) -> dict[str, str]:
    """What a reader sees who points at a sign, by the sign's id."""
    return {
        gid_of(point): f"{point.label}: {decimal(point.accuracy)} "
        f"[{decimal(point.accuracy_low)}, {decimal(point.accuracy_high)}], n = {point.n}, "
        f"{short_number(point.state_bits)} bits{'' if point.solved else ', unsolved'}"
        for point in points
    }


def keyless_accuracy(point: SweepPoint) -> float | None:
    """What a reader of MQAR gets that knows the values that are left, but not their keys; None for other tasks.

    The mean of 1, 1/2, ..., 1/m for m questions (a little more where a value occurs twice).
    """
    if point.task != "mqar":
        return None
    num_questions = round(point.needed_bits / log2(1 / point.chance))
    return sum(1 / left for left in range(1, num_questions + 1)) / num_questions


def gid_of(point: SweepPoint) -> str:
    """The id of a point's sign."""
    return f"bar-{point.cell}-{point.n}"


def draw_against_state(axes: Axes, points: Sequence[SweepPoint], marks: Mapping[str, Mark]) -> None:
    """Accuracy over state bits; all points are of one task and one n."""
    first = points[0]
    axes.set_title(f"{task_label(first.task)}, n = {first.n}: against state bits")
    smallest = min(min(point.state_bits for point in points), first.needed_bits)
    low, high = smallest / 4, 2 * max(point.state_bits for point in points)
    if any(point.bound_accuracy is not None for point in points):
        bits = np.geomspace(low, high, _BOUND_POINTS)
        best = [_best(first, value) for value in bits.tolist()]
        axes.fill_between(bits, best, 1.06, color=RULE, alpha=0.6, linewidth=0)
        axes.plot(bits, best, color=INK, linewidth=1.0)
    axes.axhline(first.chance, color=MUTED, linewidth=0.8, linestyle=":")
    keyless = keyless_accuracy(first)
    if keyless is not None:
        axes.axhline(keyless, color=MUTED, linewidth=0.8, linestyle="-.")
    for model in dict.fromkeys(point.mixer for point in points):
        sizes = sorted((point for point in points if point.mixer == model), key=lambda point: point.state_bits)
        mark = marks[model]
        axes.plot(
            [p.state_bits for p in sizes], [p.accuracy for p in sizes], color=mark.colour, linewidth=0.8, alpha=0.6
        )
        for point in sizes:
            _draw_point(axes, point, mark, x=point.state_bits)
    _frame(axes)
    axes.set(xscale="log", xlim=(low, high), xlabel="bits of state after the prompt", ylabel="accuracy")
    axes.xaxis.set_major_formatter(lambda value, _: short_number(value))
    axes.xaxis.set_minor_locator(NullLocator())


def draw_against_n(
    axes: Axes, points: Sequence[SweepPoint], marks: Mapping[str, Mark], *, title: str, tightest: int | None
) -> None:
    """Accuracy over n, for the largest size of each model; all points are of one task.

    Args:
        tightest: bits of the state whose bound is drawn.
    """
    axes.set_title(title)
    of_n = {point.n: point for point in points}
    sizes = sorted(of_n)
    axes.plot(sizes, [of_n[n].chance for n in sizes], ":", color=MUTED, linewidth=0.8)
    keyless = [value for n in sizes if (value := keyless_accuracy(of_n[n])) is not None]
    if keyless:
        axes.plot(sizes, keyless, "-.", color=MUTED, linewidth=0.8)
    if tightest is not None:
        axes.plot(sizes, [_best(of_n[n], tightest) for n in sizes], "--", color=INK, linewidth=1.0)
    for line in largest_sizes(points):
        mark = marks[line[0].mixer]
        axes.plot([p.n for p in line], [p.accuracy for p in line], color=mark.colour, linewidth=1.3)
        for point in line:
            _draw_point(axes, point, mark, x=point.n)
    _frame(axes)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.set(xlim=(sizes[0] * 0.85, sizes[-1] * 1.18), xlabel="n")


def smallest_fixed_state(points: Iterable[SweepPoint]) -> int | None:
    """The smallest state that does not grow, among points with a bound."""
    return min((p.state_bits for p in points if not p.state_grows and p.bound_accuracy is not None), default=None)


def largest_sizes(points: Iterable[SweepPoint]) -> list[list[SweepPoint]]:
    """For each model the line of its size with the most state, by growing n."""
    best: dict[str, list[SweepPoint]] = {}
    for (model, _), line in lines_of(points).items():
        if model not in best or line[-1].state_bits > best[model][-1].state_bits:
            best[model] = line
    return list(best.values())


def panels_of(points: Sequence[SweepPoint], marks: Mapping[str, Mark]) -> list[tuple[str, list[SweepPoint]]]:
    """The points of one task by the panel that shows them over n, with its title."""
    panels = []
    for families in PANELS:
        shown = [point for point in points if marks[point.mixer].family in families]
        if shown:
            present = dict.fromkeys(marks[point.mixer].family for point in shown)
            panels.append((", ".join(family for family in families if family in present), shown))
    return panels


def sweep_figure(run: SweepRun, marks: Mapping[str, Mark]) -> Figure:
    """All tasks below each other, with a legend."""
    tasks = {task: [point for point in run.points if point.task == task] for task in run.tasks}
    panels = {task: panels_of(points, marks) for task, points in tasks.items()}
    columns = 1 + max(map(len, panels.values()))
    with rc_context(STYLE):
        figure = Figure(figsize=(sum(_WIDTHS[:columns]) + 0.3, 3.1 * len(tasks) + 0.9), layout="constrained")
        grid = figure.subplots(len(tasks), columns, squeeze=False, width_ratios=_WIDTHS[:columns])
        for row, (task, points) in zip(grid, tasks.items(), strict=True):
            draw_against_state(row[0], run.at_largest_n(task), marks)
            for axes, panel in zip(row[1:], [*panels[task], *[None] * columns], strict=False):
                if panel is None:
                    axes.set_axis_off()
                else:
                    tightest = smallest_fixed_state(points)
                    draw_against_n(axes, panel[1], marks, title=panel[0], tightest=tightest)
        figure.legend(handles=_legend(marks, run.points), loc="outside lower center", ncols=6, frameon=False)
    return figure


def _best(point: SweepPoint, bits: float | int) -> float:
    return best_accuracy(bits, needed_bits=point.needed_bits, num_symbols=round(1 / point.chance))


def _draw_point(axes: Axes, point: SweepPoint, mark: Mark, *, x: float | int) -> None:
    axes.plot([x, x], [point.accuracy_low, point.accuracy_high], color=mark.colour, linewidth=0.9, alpha=0.8)
    face = mark.colour if point.solved else "white"
    drawn = axes.plot([x], [point.accuracy], mark.marker, color=mark.colour, markerfacecolor=face, markersize=5)
    drawn[0].set_gid(gid_of(point))


def _frame(axes: Axes) -> None:
    axes.set_ylim(0, 1.04)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)


def _legend(marks: Mapping[str, Mark], points: Sequence[SweepPoint]) -> list[Any]:
    handles: list[Any] = [
        Line2D([], [], marker=mark.marker, color=mark.colour, linewidth=1.0, label=model)
        for model, mark in marks.items()
    ]
    handles.append(Line2D([], [], marker="o", linestyle="", color=MUTED, markerfacecolor="white", label="unsolved"))
    tightest = smallest_fixed_state(points)
    if tightest is not None:
        handles.append(Patch(color=RULE, alpha=0.6, label="no state of so few bits"))
        handles.append(Line2D([], [], color=INK, linestyle="--", label=f"best with {tightest:,} bits"))
    if any(point.task == "mqar" for point in points):
        handles.append(Line2D([], [], color=MUTED, linestyle="-.", label="MQAR: values without keys"))
    handles.append(Line2D([], [], color=MUTED, linestyle=":", label="guess"))
    return handles
