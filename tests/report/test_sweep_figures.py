from pathlib import Path

import pytest
from matplotlib.figure import Figure

from recherche.report.sweep_figures import (
    draw_against_n,
    draw_against_state,
    keyless_accuracy,
    largest_sizes,
    panels_of,
    smallest_fixed_state,
    sweep_figure,
    titles_of,
)
from recherche.report.sweep_marks import marks_of_models
from recherche.report.sweep_results import SweepPoint, read_sweep
from tests.report.made_up_sweep import points, write_sweep

MQAR = [point for point in points() if point.task == "mqar"]
MARKS = marks_of_models(MQAR)


def signs(axes):
    """The id, the place and whether it is filled, of each sign."""
    return {
        line.get_gid(): (line.get_xdata()[0], line.get_ydata()[0], line.get_markerfacecolor() != "white")
        for line in axes.lines
        if line.get_gid()
    }


def test_each_size_stands_at_its_bits_and_is_hollow_if_unsolved():
    axes, largest = Figure().subplots(), [point for point in MQAR if point.n == 32]
    draw_against_state(axes, largest, MARKS)
    assert sorted(signs(axes).values()) == sorted((p.state_bits, p.accuracy, p.solved) for p in largest)
    assert axes.get_xscale() == "log"
    assert axes.get_title(loc="left") or axes.get_title() == "MQAR, n = 32: against state bits"


def test_the_bound_is_drawn_from_the_guess_up_to_what_is_needed():
    axes = Figure().subplots()
    draw_against_state(axes, [point for point in MQAR if point.n == 32], MARKS)
    bits, best = axes.lines[0].get_data()
    assert best[bits >= 128] == pytest.approx(1.0)
    assert (best[bits < 100] < 1).all()
    assert len(axes.collections) == 1


def test_without_a_known_bound_none_is_drawn():
    axes = Figure().subplots()
    draw_against_state(axes, [p.model_copy(update={"bound_accuracy": None}) for p in MQAR if p.n == 32], MARKS)
    assert len(axes.collections) == 0


def test_over_n_each_model_has_its_largest_size():
    axes = Figure().subplots()
    draw_against_n(axes, MQAR, MARKS, title="all", tightest=32)
    assert len(signs(axes)) == 4 * 3
    assert {line[-1].size for line in largest_sizes(MQAR)} == {"", "d_state 16"}
    assert [tick for tick in axes.get_xticks()] == [8, 16, 32]


def test_the_tightest_bound_is_that_of_the_smallest_state_that_does_not_grow():
    assert smallest_fixed_state(MQAR) == 32
    assert smallest_fixed_state([point for point in MQAR if point.state_grows]) is None


def test_families_share_panels_and_empty_ones_are_left_out():
    assert [(title, {p.mixer for p in shown}) for title, shown in panels_of(MQAR, MARKS)] == [
        ("attention, hybrids", {"attention", "hybrid"}),
        ("linear attention", {"gla"}),
        ("state space", {"mamba"}),
    ]


def test_who_points_at_a_sign_reads_its_numbers():
    point: SweepPoint = next(p for p in MQAR if p.size == "d_state 2" and p.n == 8)
    [title] = titles_of([point]).values()
    assert title == "mamba, d_state 2: 0.740 [0.720, 0.760], n = 8, 32 bits, unsolved"


def test_the_whole_figure_has_a_row_for_each_task_and_names_every_model(tmp_path: Path):
    run = read_sweep(write_sweep(tmp_path))
    figure = sweep_figure(run, marks_of_models(run.points))
    assert len(figure.axes) == 2 * 4
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[:4] == ["attention", "gla", "mamba", "hybrid"]
    assert "best with 32 bits" in texts


def test_a_reader_of_values_without_keys_is_right_about_what_is_left():
    two_pairs = MQAR[0].model_copy(update={"needed_bits": 8.0})
    assert keyless_accuracy(two_pairs) == pytest.approx((1 + 1 / 2) / 2)
    assert keyless_accuracy(two_pairs.model_copy(update={"task": "index"})) is None
