"""The streaming game in one picture: bits recovered against bits sent, and which question is answered wrongly.

Left, a point for each model and n; none can lie above the diagonal, where every bit sent is recovered. A whisker
reaches from what holds with 95 % confidence (the point) to the plain estimate; a tick marks what the task needs at that
n. Right, a panel for each model: the share of wrong answers to each question (across), for each n (down).

Reference: Wen, Dang & Lyu (2024), Theorems 4.6 and 4.7, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recherche.report.appearance import INK, MUTED, RULE, architecture_label, colours_of
from recherche.report.figures import STYLE

Row = Mapping[str, Any]


def draw_capacity(rows: Sequence[Row]) -> Figure:
    """The picture of the lines that `recherche game capacity --json` prints."""
    labels = list(dict.fromkeys(row["label"] for row in rows))
    colours = colours_of(next(row["architecture"] for row in rows if row["label"] == label) for label in labels)
    with rc_context(STYLE):
        figure = Figure(figsize=(6.0 + 2.6 * len(labels), 4.2), layout="constrained")
        axes = figure.subplots(1, 1 + len(labels), width_ratios=[5.2, *[2.4] * len(labels)], squeeze=False)[0]
        _draw_plane(axes[0], rows, labels, colours)
        for axis, label in zip(axes[1:], labels, strict=True):
            _draw_errors(axis, [row for row in rows if row["label"] == label], label)
    return figure


def _draw_plane(axes: Axes, rows: Sequence[Row], labels: Sequence[str], colours: Mapping[str, str]) -> None:
    sent = [row["message_bits"] for row in rows]
    low, high = 0.7, 2.0 * max(sent)
    axes.plot([low, high], [low, high], color=INK, linewidth=1.0)
    axes.fill_between([low, high], [low, high], high, color=RULE, alpha=0.5, linewidth=0)
    for label in labels:
        own = sorted((row for row in rows if row["label"] == label), key=lambda row: row["n"])
        colour = colours[own[0]["architecture"]]
        x = [row["message_bits"] for row in own]
        y = [max(row["bits_recovered"], 1.0) for row in own]
        up = [max(row["bits_estimated"] - value, 0.0) for row, value in zip(own, y, strict=True)]
        axes.errorbar(
            x,
            y,
            yerr=np.array([[0.0] * len(y), up]),
            color=colour,
            marker="o",
            markersize=4,
            linewidth=1.2,
            label=label,
        )
        axes.plot(x, [row["bits_needed"] for row in own], color=colour, marker="_", markersize=9, linestyle="")
        for row, value in zip(own, y, strict=True):
            axes.annotate(
                f"n={row['n']}", (row["message_bits"], value), (4, -9), textcoords="offset points", color=MUTED
            )
    axes.set(xscale="log", yscale="log", xlim=(0.5 * min(sent), high), ylim=(low, high))
    axes.set(xlabel="bits sent: the state", ylabel="bits recovered (95 %)", title="Nobody crosses the diagonal")
    axes.legend(frameon=False, loc="upper left")


def _draw_errors(axes: Axes, rows: Sequence[Row], label: str) -> None:
    ordered = sorted(rows, key=lambda row: row["n"])
    longest = max(len(row["errors"]) for row in ordered)
    grid = np.full((len(ordered), longest), np.nan)
    for line, row in zip(grid, ordered, strict=True):
        line[: len(row["errors"])] = row["errors"]
    place = (0.5, longest + 0.5, len(ordered) - 0.5, -0.5)
    axes.imshow(grid, extent=place, aspect="auto", interpolation="nearest", cmap="magma_r", vmin=0, vmax=1)
    axes.set_yticks(range(len(ordered)), [f"n={row['n']}" for row in ordered])
    axes.set(xlabel="question (dark: always wrong)", title=f"Errors: {architecture_label(label)}")
