import pytest

from recherche.experiments.recall_curve import best_accuracy_of, is_measured, run_sweep_cell
from recherche.experiments.runs import load_run
from recherche.experiments.sweep_grid import SweepCell, parse_sweep
from recherche.tasks import MQAR, Index, Recall


@pytest.fixture(scope="module")
def cell(tiny_sweep) -> SweepCell:
    return next(iter(parse_sweep(tiny_sweep, source="tiny").cells(0).values()))


@pytest.fixture(scope="module")
def measured(cell, tmp_path_factory):
    folder = tmp_path_factory.mktemp("curve")
    return folder, run_sweep_cell(cell, folder)


def test_a_row_for_each_n_with_everything_a_reader_needs(measured):
    _, result = measured
    rows = result["curve"]
    assert [row["n"] for row in rows] == [8, 16]
    for row, pairs in zip(rows, (1, 2), strict=True):
        assert row["num_answers"] == pairs * row["num_samples"] == 16 * pairs
        assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
        assert (row["chance"], row["needed_bits"]) == (0.25, 2 * pairs)
        assert row["measured_by"] == "every question"
        assert (row["mixer"], row["layers"], row["task"]) == ("attention", ["attention"], "mqar")
        assert row["bound_accuracy"] == 1.0
    assert rows[0]["state_bits"] < rows[1]["state_bits"]
    assert result["accuracy"] == rows[-1]["accuracy"]


def test_a_measured_cell_is_not_measured_again_unless_other_sizes_are_asked_for(cell, measured):
    folder, result = measured
    (folder / "curve.json").touch()
    before = (folder / "curve.json").stat().st_mtime_ns
    assert run_sweep_cell(cell, folder) == result
    assert (folder / "curve.json").stat().st_mtime_ns == before
    assert is_measured(cell, folder)
    assert not is_measured(cell._replace(sizes=(16,)), folder)
    assert [row["n"] for row in run_sweep_cell(cell._replace(sizes=(16,)), folder)["curve"]] == [16]


def test_a_trained_point_is_a_run_like_any_other(cell, measured):
    assert load_run(measured[0]).config == cell.config


def test_a_task_that_works_its_answer_out_is_measured_by_generation(cell, tmp_path):
    task = cell.config.task.model_copy(update={"protocol": "retrieval"})
    config = cell.config.model_copy(update={"task": task})
    [row] = run_sweep_cell(SweepCell(config, (8,)), tmp_path)["curve"]
    assert (row["measured_by"], row["num_answers"]) == ("generation", row["num_samples"])


def test_the_bound_is_stated_where_it_is_proved():
    assert best_accuracy_of(Index(n=16, n_symbols=16), 64) == 1.0
    assert best_accuracy_of(Index(n=16, n_symbols=16), 0) == pytest.approx(1 / 16)
    assert 0.4 < best_accuracy_of(MQAR(n=64, n_values=16, n_keys=8), 16) < 1
    assert best_accuracy_of(Recall(n=8), 4) is None
