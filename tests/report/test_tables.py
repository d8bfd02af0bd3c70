import json
from collections.abc import Callable
from pathlib import Path

from recherche.report.results import read_run
from recherche.report.tables import RESULT_COLUMNS, comparison_rows, result_rows


def test_every_measured_cell_fills_every_column(quick_run: Path):
    rows = result_rows(read_run(quick_run))
    assert len(rows) == 9
    assert all(len(row.texts) == len(RESULT_COLUMNS) for row in rows)
    assert rows[4].texts[:4] == ("Mamba", "CoT", "16", "quick-cot")


def test_a_curriculum_that_stopped_early_shows(quick_run: Path):
    run = read_run(quick_run)
    late = run.results[3].model_copy(update={"level_reached": 12})
    rows = result_rows(type(run)(folder=run.folder, record=run.record, results=(late,)))
    assert "12 < 16" in rows[0].texts


def test_absent_cells_say_why(make_run: Callable[..., Path], tmp_path: Path):
    folder = make_run(tmp_path / "run")
    lines = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    (folder / "results.jsonl").write_text("".join(lines[2:]))
    record = json.loads((folder / "reproduce.json").read_text())
    record["failed"] = [{"cell": "transformer-direct-n16", "error": "boom"}]
    record["cells"].append("a cell of another kind")
    (folder / "reproduce.json").write_text(json.dumps(record))
    absent = [row.texts for row in result_rows(read_run(folder)) if row.failed]
    assert absent == [
        ("Transformer", "Direct", "16", "failed: boom"),
        ("Mamba", "Direct", "16", "not run"),
        ("a cell of another kind", "", "", "not run"),
    ]


def test_runs_stand_side_by_side_with_their_difference(quick_run: Path, make_run: Callable[..., Path], tmp_path: Path):
    other = make_run(tmp_path / "other", ns=(16, 32))
    rows = comparison_rows([read_run(quick_run), read_run(quick_run), read_run(other)])
    assert len(rows) == 18
    assert all(len(row.texts) == 8 for row in rows)
    first = next(row.texts for row in rows if row.texts[:3] == ("Mamba", "CoT", "16"))
    assert first[4] == first[5]
    assert first[7].startswith(("+", "-"))
    missing = next(row.texts for row in rows if row.texts[:3] == ("Mamba", "CoT", "32"))
    assert missing[4:6] == ("–", "–")
    assert missing[7] == "–"
