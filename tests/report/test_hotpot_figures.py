from pathlib import Path

import pytest

from recherche.report.figures import single_panel
from recherche.report.hotpot_figures import ABSOLUTE, RELATIVE, draw_order, hotpot_figure, relative, titles_of
from recherche.report.hotpot_results import HotpotRun, read_hotpot_run
from tests.report.made_up_hotpot_run import write_hotpot_run

COLOURS = {"phi": "#0072b2", "mamba": "#d55e00", "hybrid": "#009e73"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> HotpotRun:
    return read_hotpot_run(write_hotpot_run(tmp_path_factory.mktemp("hotpot")))


def heights_of(run: HotpotRun, order: str, height) -> dict[str, float]:
    """The heights of the drawn signs by their ids."""
    figure = single_panel(lambda axes: draw_order(axes, run, order, COLOURS, height=height))
    return {str(line.get_gid()): float(line.get_ydata()[0]) for line in figure.axes[0].lines if line.get_gid()}


@pytest.mark.parametrize("order", ["random", "last"])
def test_every_point_of_an_order_has_its_sign(run: HotpotRun, order: str):
    points = [point for point in run.points if point.order == order]
    drawn = heights_of(run, order, RELATIVE)
    assert set(drawn) == {f"bar-relative-{point.point}" for point in points}
    for point in points:
        assert drawn[f"bar-relative-{point.point}"] == relative(run, point)
    absolute = heights_of(run, order, ABSOLUTE)
    assert {absolute[f"bar-absolute-{point.point}"] == point.accuracy for point in points} == {True}
    assert set(drawn) | set(absolute) <= set(titles_of(run, RELATIVE)) | set(titles_of(run, ABSOLUTE))


def test_with_two_paragraphs_every_curve_begins_at_one(run: HotpotRun):
    drawn = heights_of(run, "random", RELATIVE)
    assert {height for name, height in drawn.items() if name.endswith("n2")} == {1.0}
    assert {height for name, height in heights_of(run, "random", ABSOLUTE).items() if "direct-random-n2" in name} == {1}


def test_direct_answers_are_hollow_and_dashed(run: HotpotRun):
    figure = single_panel(lambda axes: draw_order(axes, run, "last", COLOURS, height=RELATIVE))
    for line in figure.axes[0].lines:
        if line.get_gid():
            assert (line.get_markerfacecolor() == "white") == ("direct" in str(line.get_gid()))
    styles = [line.get_linestyle() for line in figure.axes[0].lines if len(line.get_xdata()) == 4]
    assert sorted(styles) == ["-", "-", "-", "--", "--", "--"]


def test_a_point_whose_base_is_zero_is_left_out_of_the_relative_panel(tmp_path: Path):
    folder = write_hotpot_run(tmp_path)
    text = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    zero = [line.replace('"accuracy": 0.82', '"accuracy": 0.0') for line in text]
    (folder / "results.jsonl").write_text("".join(zero))
    run = read_hotpot_run(folder)
    assert not any("search" in name for name in heights_of(run, "random", RELATIVE))
    assert any("search" in name for name in heights_of(run, "random", ABSOLUTE))


def test_the_figure_has_a_panel_for_each_order_and_a_legend(run: HotpotRun):
    figure = hotpot_figure(run, COLOURS)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["(a) random order", "(b) facts last"]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["phi", "mamba", "hybrid", "direct", "searching"]
