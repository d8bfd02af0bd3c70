"""The streaming game in one picture: bits recovered against bits sent, against n, and which question goes wrong.

Above, a line for each model, a point for each n; none can lie above the diagonal, where every bit sent is recovered. A
dotted line leads from the last n to the same model with its state in fewer bits. Beside it, the same bits against n,
with what the task needs: a state of fixed size comes to an end, a cache grows. A whisker reaches from what holds with
95 % confidence (the point) to the plain estimate. Below, the share of wrong answers to each question, for each n.

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

_FLOOR = 0.5
"""Where a point is drawn that recovers less, in bits."""


def draw_capacity(rows: Sequence[Row]) -> Figure:
    """The picture of the lines that `recherche game capacity --json` prints."""
    labels = list(dict.fromkeys(row["label"] for row in rows))
    first = rows[0]["quantiser"]
    # A label is a model's own word; models of one architecture are told apart by colours that are free.
    architectures = [next(row["architecture"] for row in rows if row["label"] == label) for label in labels]
    names = [
        kind if architectures.count(kind) == 1 else label for kind, label in zip(architectures, labels, strict=True)
    ]
    colours = dict(zip(labels, map(colours_of(names).__getitem__, names), strict=True))
    own = {
        label: sorted((r for r in rows if r["label"] == label and r["quantiser"] == first), key=lambda row: row["n"])
        for label in labels
    }
    with rc_context(STYLE):
        figure = Figure(figsize=(max(9.0, 2.4 * len(labels)), 6.6), layout="constrained")
        above, below = figure.subfigures(2, 1, height_ratios=[1.7, 1.0])
        plane, growth = above.subplots(1, 2, width_ratios=[1.4, 1.0])
        _draw_plane(plane, own, colours)
        _draw_fewer_bits(plane, rows, own, colours)
        _draw_growth(growth, own, colours)
        for axes, label in zip(below.subplots(1, len(labels), squeeze=False)[0], labels, strict=True):
            _draw_errors(axes, own[label], label)
    return figure


def _heights(rows: Sequence[Row]) -> tuple[list[float], list[list[float]]]:
    """The certain bits, and how far the estimate lies above them."""
    certain = [max(row["bits_recovered"], _FLOOR) for row in rows]
    above = [max(row["bits_estimated"] - low, 0.0) for row, low in zip(rows, certain, strict=True)]
    return certain, [[0.0] * len(rows), above]


def _draw_plane(axes: Axes, own: Mapping[str, Sequence[Row]], colours: Mapping[str, str]) -> None:
    needed = [row["bits_needed"] for rows in own.values() for row in rows]
    most = max(row["message_bits"] for rows in own.values() for row in rows)
    low, high, top = min(needed) / 2, 3.0 * most, 4.0 * max(needed)
    axes.plot([low, top], [low, top], color=INK, linewidth=1.0)
    axes.fill_between([low, top], [low, top], top, color=RULE, alpha=0.5, linewidth=0)
    for label, rows in own.items():
        sent = [row["message_bits"] for row in rows]
        certain, above = _heights(rows)
        axes.errorbar(
            sent, certain, yerr=above, color=colours[label], marker="o", markersize=4, label=architecture_label(label)
        )
        axes.annotate(
            f"n={rows[-1]['n']}", (sent[-1], certain[-1]), (5, 3), textcoords="offset points", color=colours[label]
        )
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(_FLOOR, top))
    axes.set(xlabel="bits sent: the state", ylabel="bits recovered (95 %)", title="Nobody crosses the diagonal")
    axes.legend(frameon=False, loc="lower left")


def _draw_fewer_bits(
    axes: Axes, rows: Sequence[Row], own: Mapping[str, Sequence[Row]], colours: Mapping[str, str]
) -> None:
    """The last n of each model again, with every other quantiser."""
    for label, line in own.items():
        last = line[-1]["n"]
        again = sorted((r for r in rows if r["label"] == label and r["n"] == last), key=lambda row: row["message_bits"])
        sent, (certain, _) = [row["message_bits"] for row in again], _heights(again)
        axes.plot(sent, certain, color=colours[label], linestyle=":", marker=".", markersize=4)
        for row, height in zip(again, certain, strict=True):
            if row["quantiser"] != line[0]["quantiser"]:
                place, name = (row["message_bits"], height), row["quantiser"]
                axes.annotate(name, place, (0, 4), textcoords="offset points", color=MUTED, rotation=90, ha="center")


def _draw_growth(axes: Axes, own: Mapping[str, Sequence[Row]], colours: Mapping[str, str]) -> None:
    for label, rows in own.items():
        certain, above = _heights(rows)
        axes.errorbar([row["n"] for row in rows], certain, yerr=above, color=colours[label], marker="o", markersize=4)
    longest = max(own.values(), key=len)
    needed = [row["bits_needed"] for row in longest]
    axes.plot([row["n"] for row in longest], needed, color=INK, linestyle="--", linewidth=1.0, label="the task needs")
    axes.set(xlabel="n", ylabel="bits recovered (95 %)", title="A fixed state comes to an end")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    low, high = axes.get_ylim()
    powers = [2**power for power in range(20) if low <= 2**power <= high]
    axes.set_yticks(powers, [str(power) for power in powers])
    axes.set_xticks([row["n"] for row in longest], [str(row["n"]) for row in longest])
    axes.minorticks_off()
    axes.legend(frameon=False, loc="upper left")


def _draw_errors(axes: Axes, ordered: Sequence[Row], label: str) -> None:
    longest = max(len(row["errors"]) for row in ordered)
    grid = np.full((len(ordered), longest), np.nan)
    for line, row in zip(grid, ordered, strict=True):
        line[: len(row["errors"])] = row["errors"]
    place = (0.5, longest + 0.5, len(ordered) - 0.5, -0.5)
    axes.imshow(grid, extent=place, aspect="auto", interpolation="nearest", cmap="magma_r", vmin=0, vmax=1)
    axes.set_yticks(range(len(ordered)), [f"n={row['n']}" for row in ordered])
    axes.set(xlabel="question (dark: wrong)", title=f"Errors: {architecture_label(label)}")
