from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recherche.report.panels import accuracy_panels
from recherche.report.results import read_run
from recherche.report.sections import bar_plots, configs_of, example_groups, facts_of, learning_sections, marks_of


def test_every_panel_is_a_plot_with_ids_of_its_own(quick_run: Path):
    plots = bar_plots(accuracy_panels(read_run(quick_run)))
    assert len(plots) == 3
    assert all(f'id="bars-{i}-bar-0-1"' in plot.svg for i, plot in enumerate(plots))


def test_the_legend_explains_what_is_drawn(quick_run: Path):
    marks = marks_of(accuracy_panels(read_run(quick_run)), ["quick-cot"])
    assert marks == {"interval": True, "seeds": False, "paper": True, "guide": True, "paper_stand_in": True}


def test_the_papers_own_sizes_need_no_stand_in(quick_run: Path):
    assert not marks_of(accuracy_panels(read_run(quick_run)), ["0.5M"])["paper_stand_in"]


def test_learning_has_a_section_for_each_protocol_and_n(quick_run: Path):
    sections = learning_sections(read_run(quick_run))
    assert [section.title for section in sections] == [
        "Direct answer, n = 16",
        "Chain of thought, n = 16",
        "Chain of thought with retrieval, n = 16",
    ]
    assert [len(section.plots) for section in sections] == [2, 3, 2]  # a level that never changes is not drawn


def test_cells_without_metrics_have_no_section(make_run: Callable[..., Path], tmp_path: Path):
    folder = make_run(tmp_path / "run")
    for path in folder.glob("cells/*/metrics.jsonl"):
        path.unlink()
    assert learning_sections(read_run(folder)) == []


def test_every_architecture_has_examples_of_every_protocol(quick_run: Path):
    groups = example_groups(read_run(quick_run))
    assert [group.label for group in groups] == ["Transformer", "Mamba", "Hybrid"]
    names = [name for name, _ in groups[1].shown]
    assert names[:3] == [
        "Chain of thought with retrieval, n = 16, graph 1",
        "Chain of thought with retrieval, n = 16, graph 2",
        "Chain of thought, n = 16, graph 1",
    ]


def test_right_and_wrong_examples_are_both_shown(quick_run: Path):
    shown = [s for name, s in example_groups(read_run(quick_run))[1].shown if name.startswith("Chain of thought, n")]
    assert [one.example.right for one in shown] == [True, False]


def test_facts_name_preset_seed_and_time(quick_run: Path):
    facts = dict(facts_of(read_run(quick_run)))
    assert (facts["preset"], facts["seed"], facts["took"]) == ("quick", "0", "11 min 45 s")


@pytest.mark.parametrize(
    ("change", "took"),
    [
        pytest.param({"wall_seconds": 61.0}, "1 min 1 s", id="measured"),
        pytest.param({"finished": None}, None, id="still running"),
        pytest.param({"started": "yesterday"}, None, id="no time"),
    ],
)
def test_the_time_is_told_where_it_is_known(quick_run: Path, change: dict, took: str | None):
    run = read_run(quick_run)
    assert dict(facts_of(replace(run, record=run.record.model_copy(update=change)))).get("took") == took


def test_configurations_are_shown_even_when_damaged(make_run: Callable[..., Path], tmp_path: Path):
    folder = make_run(tmp_path / "run")
    (folder / "cells" / "mamba-cot-n16" / "config.json").write_text("{ damaged")
    configs = dict(configs_of(read_run(folder)))
    assert len(configs) == 9
    assert configs["mamba-cot-n16"] == "{ damaged"
    assert '"version": 1' in configs["hybrid-cot-n16"]
