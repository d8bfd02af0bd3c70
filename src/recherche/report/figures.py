"""Draws bar panels and learning curves with matplotlib's object interface; no global state, no display.

Bars stand on 0.5, what a coin achieves: a model that knows nothing has no bar. A whisker is the 95 % interval, a dot a
single seed, a diamond the paper's value, a dashed line the best guess that the degrees of the hubs allow.
"""

from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from recherche._files import replacing
from recherche.report.appearance import INK, MUTED, RULE
from recherche.report.learning import Curve
from recherche.report.numerals import decimal
from recherche.report.panels import Bar, BarPanel, Series, legend_of

COIN = 0.5
LOWEST = 0.4
MAX_LABELLED_BARS = 12
MAX_LARGE_LABELS = 4
MAX_WIDTH = 16.0
_PAPER: dict[str, Any] = dict(
    marker="D", markersize=4.6, markerfacecolor="white", markeredgecolor=INK, markeredgewidth=0.9, linestyle=""
)
_SEED: dict[str, Any] = dict(marker=".", markersize=3.2, color=INK, linestyle="")
STYLE: Any = {
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 10.0,
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "svg.hashsalt": "recherche",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.major.size": 0.0,
    "ytick.color": MUTED,
    "ytick.labelcolor": MUTED,
    "ytick.major.size": 0.0,
}


def panel_width(panel: BarPanel) -> float:
    """Width in inches that leaves every bar of the panel its place."""
    return max(3.3, 0.7 + 0.22 * len(panel.groups) * (len(panel.series) + 1.5))


def draw_bars(axes: Axes, panel: BarPanel) -> None:
    """Draw one panel."""
    num_series = len(panel.series)
    width = 0.78 / max(num_series, 2)
    axes.set_title(panel.title)
    axes.set_ylim(LOWEST, 1.045)
    axes.set_xlim(-0.6, len(panel.groups) - 0.4)
    axes.set_yticks([0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xticks(range(len(panel.groups)), panel.groups)
    axes.axhline(COIN, color=MUTED, linewidth=0.8)
    for bar in panel.bars:
        x = bar.group + (bar.series - (num_series - 1) / 2) * width
        _draw_bar(axes, bar, panel.series[bar.series], x=x, width=width * 0.86)
        _write_value(axes, bar, x=x, num_bars=len(panel.groups) * num_series)
    for guide in panel.guides:
        reach = 0.5 * num_series * width + 0.04
        axes.plot([guide.group - reach, guide.group + reach], [guide.value] * 2, "--", color=INK, linewidth=1.1)


def _draw_bar(axes: Axes, bar: Bar, series: Series, *, x: float, width: float) -> None:
    if bar.value is None:
        axes.annotate(bar.note, (x, COIN), (0, 4), textcoords="offset points", rotation=90, ha="center", color=MUTED)
        return
    axes.bar(x, bar.value - COIN, width, COIN, color="white")  # hides the grid behind a translucent bar
    drawn = axes.bar(x, bar.value - COIN, width, COIN, color=series.colour, alpha=series.strength)
    drawn.patches[0].set_gid(f"bar-{bar.group}-{bar.series}")
    axes.plot([x, x], [bar.low, bar.high], color=INK, linewidth=1.3, solid_capstyle="butt")
    if bar.points:
        axes.plot([x - 0.28 * width] * len(bar.points), bar.points, **_SEED)
    if bar.paper is not None:
        axes.plot([x + 0.28 * width], [bar.paper], **_PAPER)


def _write_value(axes: Axes, bar: Bar, *, x: float, num_bars: int) -> None:
    """The number below its bar, as long as there is room for it."""
    if bar.value is None or num_bars > MAX_LABELLED_BARS:
        return
    text = decimal(bar.value).lstrip("0")
    size = 8 if num_bars <= MAX_LARGE_LABELS else 6.5
    axes.annotate(text, (x, LOWEST), (0, 4), textcoords="offset points", ha="center", color=MUTED, fontsize=size)


def accuracy_figure(panels: Sequence[BarPanel]) -> Figure:
    """All panels with a legend, side by side while they are narrow, else one below the other."""
    widths = [panel_width(panel) for panel in panels]
    beside = sum(widths) <= MAX_WIDTH
    size = (sum(widths), 3.3) if beside else (max(widths), 2.9 * len(panels) + 0.4)
    shape = (1, len(panels)) if beside else (len(panels), 1)
    places = {**_margins(*size, foot=0.6), "wspace": 0.16, "hspace": 0.42}
    with rc_context(STYLE):
        figure = Figure(figsize=size)
        grid = figure.subplots(*shape, squeeze=False, width_ratios=widths if beside else None, gridspec_kw=places)
        for axes, panel in zip(grid.flat, panels, strict=True):
            draw_bars(axes, panel)
        grid[0, 0].set_ylabel("accuracy")
        figure.legend(
            handles=_legend(panels), loc="lower center", ncols=7, frameon=False, fontsize=8.5, handlelength=1.6
        )
    return figure


def _margins(width: float, height: float, *, foot: float) -> dict[str, float]:
    """Room for titles, ticks and labels, as shares of a figure of so many inches; a layout engine would be slower."""
    return {
        "left": 0.52 / width,
        "right": 1 - 0.08 / width,
        "top": 1 - 0.34 / height,
        "bottom": foot / height,
    }


def _legend(panels: Sequence[BarPanel]) -> list[Patch | Line2D]:
    bars = [bar for panel in panels for bar in panel.bars]
    handles: list[Patch | Line2D] = [Patch(color=s.colour, alpha=s.strength, label=s.label) for s in legend_of(panels)]
    handles.append(Line2D([], [], color=INK, linewidth=1.2, label="95 % interval"))
    if any(bar.paper is not None for bar in bars):
        handles.append(Line2D([], [], label="the paper's value", **_PAPER))
    if any(bar.points for bar in bars):
        handles.append(Line2D([], [], label="one seed", **_SEED))
    if any(panel.guides for panel in panels):
        handles.append(Line2D([], [], color=INK, linestyle="--", linewidth=1.1, label="best guess from hub degrees"))
    return handles


@final
class CurveKind(NamedTuple):
    """How curves of one kind are drawn.

    Attributes:
        bottom: lower end of the axis; None to fit the curves, as `top`.
        drawstyle: matplotlib's word for how points are joined.
    """

    title: str
    bottom: float | None = None
    top: float | None = None
    drawstyle: str = "default"


LOSS = CurveKind("loss", bottom=0.0)
LEVEL = CurveKind("curriculum: n", drawstyle="steps-post")
VALIDATION = CurveKind("validation accuracy", bottom=LOWEST, top=1.03)


def draw_curves(axes: Axes, curves: Sequence[tuple[Series, Curve]], *, kind: CurveKind) -> None:
    """Draw curves of one kind over samples."""
    axes.set_title(kind.title)
    axes.grid(color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    for series, curve in curves:
        axes.plot(
            curve.samples,
            curve.values,
            color=series.colour,
            alpha=series.strength,
            linewidth=1.4,
            drawstyle=kind.drawstyle,
        )
    axes.set_ylim(kind.bottom, kind.top)
    if kind is LEVEL:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k" if value else "0")
    axes.set_xlabel("training samples")
    axes.locator_params(axis="x", nbins=5)


def single_panel(draw: Callable[[Axes], None], *, width: float = 3.3, height: float = 2.6, foot: float = 0.3) -> Figure:
    """A figure that holds what `draw` draws on its only axes; sizes in inches, `foot` is the room below them."""
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        draw(figure.subplots(gridspec_kw=_margins(width, height, foot=foot)))
    return figure


def svg_text(figure: Figure) -> str:
    """The figure as SVG whose text is text, the same for the same figure."""
    text = StringIO()
    with rc_context(STYLE | {"svg.fonttype": "none"}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()


def save_figure(figure: Figure, folder: Path) -> tuple[Path, Path]:
    """Write figure.png and figure.svg into `folder`; each replaces its predecessor only when it is complete."""
    paths = (folder / "figure.png", folder / "figure.svg")
    for path in paths:
        with replacing(path) as draft, rc_context(STYLE):
            figure.savefig(
                draft, format=path.suffix[1:], dpi=200, metadata={} if path.suffix == ".png" else {"Date": None}
            )
    return paths
