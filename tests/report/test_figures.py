from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.image import imread

from recherche.report.figures import (
    COIN,
    LEVEL,
    accuracy_figure,
    draw_bars,
    draw_curves,
    panel_width,
    save_figure,
    single_panel,
    svg_text,
)
from recherche.report.learning import Curve
from recherche.report.panels import Bar, BarPanel, Guide, Series, accuracy_panels
from recherche.report.results import read_run

PANEL = BarPanel(
    title="$a panel$",
    groups=("n = 16",),
    series=(Series("Mamba", "#d55e00"), Series("Hybrid", "#009e73", 0.5)),
    bars=(
        Bar(group=0, series=0, value=0.75, low=0.7, high=0.8, points=(0.74, 0.76), paper=0.84),
        Bar(group=0, series=1, note="failed"),
    ),
    guides=(Guide(0, 0.536),),
)


def test_a_bar_stands_on_a_coin_and_ends_at_its_value():
    figure = single_panel(lambda axes: draw_bars(axes, PANEL))
    (bar,) = [patch for patch in figure.axes[0].patches if patch.get_gid() == "bar-0-0"]
    assert bar.get_y() == COIN
    assert bar.get_y() + bar.get_height() == pytest.approx(0.75)


def test_interval_seeds_paper_and_guide_are_drawn():
    lines = single_panel(lambda axes: draw_bars(axes, PANEL)).axes[0].lines
    drawn = [tuple(np.asarray(line.get_ydata(), float).tolist()) for line in lines]
    assert {(0.7, 0.8), (0.74, 0.76), (0.84,), (0.536, 0.536)} <= set(drawn)


def test_a_missing_bar_says_why():
    texts = [text.get_text() for text in single_panel(lambda axes: draw_bars(axes, PANEL)).axes[0].texts]
    assert texts == [".750", "failed"]


def test_panels_stand_side_by_side_until_they_are_too_wide(quick_run: Path):
    narrow = accuracy_panels(read_run(quick_run))
    series = narrow[0].series * 3
    wide = [BarPanel(title="", groups=("a", "b", "c", "d"), series=series, bars=()) for _ in range(3)]
    columns = [{round(axes.get_position().x0, 3) for axes in accuracy_figure(p).axes} for p in (narrow, wide)]
    assert [len(places) for places in columns] == [3, 1]
    assert panel_width(wide[0]) > panel_width(narrow[0])


def test_files_are_a_picture_and_an_svg_and_nothing_else(quick_run: Path, tmp_path: Path):
    png, svg = save_figure(accuracy_figure(accuracy_panels(read_run(quick_run))), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"figure.png", "figure.svg"}
    picture = imread(png)
    assert picture.shape[1] > 1200
    assert picture[..., :3].std() > 0.05
    assert svg.read_text().lstrip().startswith("<?xml")


def test_drawing_leaves_no_global_state():
    before, backend = rcParams.copy(), matplotlib.get_backend()
    svg_text(single_panel(lambda axes: draw_bars(axes, PANEL)))
    assert (rcParams.copy(), matplotlib.get_backend()) == (before, backend)


def test_the_same_figure_is_the_same_text():
    draw: Callable = lambda: svg_text(single_panel(lambda axes: draw_bars(axes, PANEL)))  # noqa: E731
    assert draw() == draw()


def test_curves_are_drawn_in_the_colour_of_their_series():
    curves = [(PANEL.series[1], Curve((0.0, 2000.0), (8.0, 9.0)))]
    axes = single_panel(lambda axes: draw_curves(axes, curves, kind=LEVEL)).axes[0]
    (line,) = axes.lines
    assert (line.get_color(), line.get_alpha(), line.get_drawstyle()) == ("#009e73", 0.5, "steps-post")
    assert axes.get_title(loc="left") == "curriculum: n"
