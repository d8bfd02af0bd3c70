import json
from collections.abc import Callable
from pathlib import Path

import pytest

from recherche.report.panels import accuracy_panels, comparison_panels, legend_of
from recherche.report.results import read_run


def test_the_papers_layout_is_a_panel_for_each_protocol(quick_run: Path):
    panels = accuracy_panels(read_run(quick_run))
    assert [panel.title for panel in panels] == ["Direct answer", "Chain of thought", "Chain of thought with retrieval"]
    assert all(panel.groups == ("n = 16",) for panel in panels)
    assert [series.label for series in legend_of(panels)] == ["Transformer", "Mamba", "Hybrid"]


def test_bars_carry_interval_paper_value_and_title(quick_run: Path):
    mamba = accuracy_panels(read_run(quick_run))[1].bars[1]
    assert mamba.value is not None
    assert mamba.low < mamba.value < mamba.high
    assert mamba.paper == 0.84
    assert "Mamba, chain of thought, n = 16" in mamba.title


def test_the_best_guess_is_a_guide_of_the_direct_panel_alone(quick_run: Path):
    direct, *others = accuracy_panels(read_run(quick_run))
    assert [guide.value for guide in direct.guides] == [pytest.approx(0.536, abs=5e-4)]
    assert all(panel.guides == () for panel in others)


def test_failed_and_missing_cells_leave_a_note(make_run: Callable[..., Path], tmp_path: Path):
    folder = make_run(tmp_path / "run")
    lines = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    (folder / "results.jsonl").write_text("".join(line for line in lines if "-cot-" not in line))
    record = json.loads((folder / "reproduce.json").read_text())
    record["failed"] = [{"cell": "mamba-cot-n16", "error": "boom"}]
    (folder / "reproduce.json").write_text(json.dumps(record))
    cot = accuracy_panels(read_run(folder))[1]
    assert [(bar.value, bar.note) for bar in cot.bars] == [(None, "not run"), (None, "failed"), (None, "not run")]


def test_sizes_and_seeds_share_a_colour_and_differ_in_strength(make_run: Callable[..., Path], tmp_path: Path):
    panels = accuracy_panels(read_run(make_run(tmp_path / "run", sizes=("0.5M", "1M"), seeds=(0, 1))))
    small, large = panels[1].series[:2]
    assert (small.label, large.label) == ("Transformer 0.5M", "Transformer 1M")
    assert small.colour == large.colour
    assert small.strength < large.strength
    assert all(len(bar.points) == 2 for panel in panels for bar in panel.bars)


def test_a_comparison_has_a_series_for_each_run(quick_run: Path, make_run: Callable[..., Path], tmp_path: Path):
    runs = [read_run(quick_run), read_run(make_run(tmp_path / "other", ns=(16, 32)))]
    panels = comparison_panels(runs, ["one", "other"])
    assert [panel.title for panel in panels][:2] == ["Direct answer, n = 16", "Direct answer, n = 32"]
    assert [series.label for series in panels[0].series] == ["one", "other"]
    assert panels[0].groups == ("Transformer", "Mamba", "Hybrid")
    assert [bar.value is None for bar in panels[1].bars] == [True, False] * 3
