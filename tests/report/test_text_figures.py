from pathlib import Path

import pytest
from matplotlib.figure import Figure

from recherche.report.appearance import ARCHITECTURE_COLOURS, MUTED
from recherche.report.text_figures import colours_of_models, draw_accuracy, draw_bits, text_figure, titles_of
from recherche.report.text_results import TextPoint, read_text_run
from tests.report.made_up_texts import points, write_text_run

COLOURS = colours_of_models(points())


def of_task(task: str) -> list[TextPoint]:
    return [point for point in points() if point.task == task]


def signs(axes):
    """Where each sign stands and whether it is filled, by its id."""
    return {
        drawn.get_gid(): (drawn.get_xdata()[0], drawn.get_ydata()[0], drawn.get_markerfacecolor() != "white")
        for drawn in axes.lines
        if drawn.get_gid()
    }


def test_every_measured_point_has_a_sign_hollow_where_it_does_not_search():
    axes = Figure().subplots()
    draw_accuracy(axes, of_task("phonebook"), COLOURS)
    assert signs(axes) == {
        f"bar-accuracy-{p.point}": (p.n, p.accuracy, p.protocol == "search") for p in of_task("phonebook")
    }
    assert axes.get_xscale() == "log"


def test_a_refused_point_is_a_cross_at_the_foot():
    axes = Figure().subplots()
    draw_accuracy(axes, of_task("variables"), COLOURS)
    [cross] = [drawn for drawn in axes.lines if drawn.get_marker() == "x"]
    assert (cross.get_xdata()[0], cross.get_ydata()[0]) == (1000, 0.0)
    assert cross.get_gid() == "bar-refused-my-llama-variables-direct-n1000"


def test_shades_reach_over_the_interval():
    axes = Figure().subplots()
    draw_accuracy(axes, [point for point in of_task("phonebook") if point.protocol == "direct"], COLOURS)
    mamba = axes.collections[0].get_paths()[0].vertices
    at_100 = sorted(height for n, height in mamba if n == 100)
    [point] = [p for p in points() if p.point == "my-mamba-phonebook-direct-n100"]
    assert (at_100[0], at_100[-1]) == (point.accuracy_low, point.accuracy_high)


def test_bits_of_state_stand_beside_those_that_the_task_needs():
    axes = Figure().subplots()
    draw_bits(axes, of_task("phonebook"), COLOURS)
    [bound] = [drawn for drawn in axes.lines if drawn.get_linestyle() == "--"]
    assert list(bound.get_ydata()) == [232.5, 2325.0, 23250.0]
    assert {(x, y) for x, y, _ in signs(axes).values()} == {(p.n, p.state_bits) for p in of_task("phonebook")}


def test_a_task_without_a_bound_has_no_line_for_it():
    axes = Figure().subplots()
    draw_bits(axes, of_task("variables"), COLOURS)
    assert [drawn for drawn in axes.lines if drawn.get_linestyle() == "--"] == []


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        pytest.param([("a", "mamba2"), ("b", "llama")], ["mamba", "transformer"], id="its family's, and a free one"),
        pytest.param([("b", "llama"), ("a", "mamba")], ["transformer", "mamba"], id="in whichever order"),
        pytest.param([("mamba-small", "x"), ("hybrid", "y")], ["mamba", "hybrid"], id="by its name"),
    ],
)
def test_a_model_has_the_colour_of_its_architecture_if_it_is_free(models, expected):
    changed = [points()[0].model_copy(update={"folder": name, "model_type": kind}) for name, kind in models]
    assert list(colours_of_models(changed).values()) == [ARCHITECTURE_COLOURS[name] for name in expected]


def test_many_models_have_distinct_colours_as_long_as_there_are_any():
    point = points()[0]
    colours = colours_of_models([point.model_copy(update={"folder": str(i), "model_type": "mamba"}) for i in range(8)])
    values = list(colours.values())
    assert len(set(values[:6])) == 6
    assert values[6:] == [MUTED, MUTED]


def test_titles_say_what_a_sign_stands_for():
    titles = titles_of(points())
    assert titles["bar-accuracy-my-mamba-phonebook-direct-n100"].startswith("my-mamba, direct, n = 100: 0.410 [0.319,")
    assert titles["bar-bits-my-mamba-phonebook-direct-n100"] == "my-mamba, n = 100: 9k bits"
    assert "refused, a prompt of 9,520 tokens" in titles["bar-refused-my-llama-variables-direct-n1000"]


def test_the_whole_figure_has_a_row_for_each_task(tmp_path: Path):
    figure = text_figure(read_text_run(write_text_run(tmp_path)), COLOURS)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "phonebook: accuracy",
        "phonebook: bits of state after the prompt",
        "variables: accuracy",
        "variables: bits of state after the prompt",
    ]
