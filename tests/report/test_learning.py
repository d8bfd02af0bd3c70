import json
from pathlib import Path

from recherche.report.learning import MAX_POINTS, read_learning_curves


def write(folder: Path, rows: list) -> Path:
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_no_file_is_an_empty_curve(tmp_path: Path):
    assert read_learning_curves(tmp_path).loss.samples == ()


def test_long_curves_are_thinned_without_moving_their_mean(tmp_path: Path):
    rows = [{"step": i, "samples": 32 * i, "n": 16, "loss": i} for i in range(1, 2401)]
    loss = read_learning_curves(write(tmp_path, rows)).loss
    assert len(loss.values) == MAX_POINTS
    assert sum(loss.values) / len(loss.values) == 1200.5


def test_the_level_is_a_staircase_of_its_changes(tmp_path: Path):
    rows = [{"step": i, "samples": i, "n": 8 + i // 4, "loss": 1.0} for i in range(1, 11)]
    level = read_learning_curves(write(tmp_path, rows)).level
    assert list(zip(level.samples, level.values, strict=True)) == [(1, 8), (4, 9), (8, 10), (10, 10)]


def test_validations_stand_at_the_samples_of_their_step(tmp_path: Path):
    rows = [
        {"step": 10, "samples": 320, "n": 8, "loss": 1.0},
        {"step": 20, "samples": 640, "n": 8, "loss": 1.0},
        {"step": 15, "validation_accuracy": 0.75},
    ]
    validation = read_learning_curves(write(tmp_path, rows)).validation
    assert (validation.samples, validation.values) == ((480.0,), (0.75,))


def test_only_the_last_attempt_is_shown(tmp_path: Path):
    rows = [
        {"step": 1, "samples": 64, "n": 8, "loss": loss, "attempt": attempt} for attempt, loss in enumerate((3.0, 1.0))
    ]
    assert read_learning_curves(write(tmp_path, rows)).loss.values == (1.0,)


def test_rows_of_other_kinds_are_left_out(tmp_path: Path):
    rows = [{"step": 1, "samples": 64, "loss": None}, ["a", "list"], {"step": 2, "samples": 128, "loss": 1.0, "n": 8}]
    assert read_learning_curves(write(tmp_path, rows)).loss.samples == (128.0,)
