import pytest

from recherche.errors import InputError
from recherche.experiments.cell import Stopped, Watch
from recherche.experiments.demo import measure
from recherche.experiments.demo.measure import Examination, examine, gather
from recherche.experiments.demo.presets import Measured
from recherche.experiments.files import read_json, read_json_lines
from recherche.experiments.language_models import Machine
from recherche.report import write_text_report
from tests.experiments.demo.tiny_demo import SMOKE
from tests.experiments.pretend_subject import PretendSubject, pretend_folder, wrong_alone

TIMES = ("seconds", "tokens_per_second", "versions")
PRESET = SMOKE.model_copy(update={"measured": (Measured(task="phonebook", sizes=(2, 4)),)})
POINTS = 4


@pytest.fixture
def asks(tmp_path, monkeypatch):
    """Examinations of folders without a model, answered by a made-up one."""
    monkeypatch.setattr(
        measure,
        "Machine",
        lambda **settings: Machine(load=lambda folder, device, dtype: PretendSubject(wrong_alone), **settings),
    )
    return lambda name: Examination(pretend_folder(tmp_path / name), PRESET, 0)


def rows(out):
    return [{k: v for k, v in row.items() if k not in TIMES} for row in read_json_lines(out / "results.jsonl")]


def test_every_task_is_asked_at_its_own_sizes_by_both_protocols(asks):
    points = asks("one")._replace(preset=SMOKE).points()
    asked = {(point.task, point.n, point.protocol) for point in points.values()}
    assert len(points) == len(asked) == 6
    assert {(task, n) for task, n, _ in asked} == {("phonebook", 2), ("phonebook", 4), ("variables", 3)}


def test_progress_rises_to_the_end(asks, tmp_path):
    told = []
    examine(asks("one"), tmp_path / "out", watch=Watch(report=told.append))
    shares = [message.done / message.total for message in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_resumed_examination_equals_an_uninterrupted_one(asks, tmp_path):
    examination = asks("one")
    examine(examination, tmp_path / "whole")
    answers = iter([False, False, True])
    with pytest.raises(Stopped):
        examine(examination, tmp_path / "broken", watch=Watch(stop=lambda: next(answers, False)))
    assert len(rows(tmp_path / "broken")) < POINTS
    examine(examination, tmp_path / "broken")
    assert rows(tmp_path / "broken") == rows(tmp_path / "whole")


def test_a_point_that_fails_is_named(asks, tmp_path, monkeypatch):
    def load(folder, device, dtype):
        raise InputError("the weights are gone")

    monkeypatch.setattr(measure, "Machine", lambda **settings: Machine(load=load, **settings))
    with pytest.raises(InputError, match="phonebook-direct-n2: the weights are gone"):
        examine(asks("one"), tmp_path / "out")


def test_gathered_folders_are_one_folder_of_lm_eval(asks, tmp_path):
    for name in ("one", "two"):
        examine(asks(name), tmp_path / "measured" / name)
    gather([tmp_path / "measured" / name for name in ("one", "two")], tmp_path / "eval")
    assert len(rows(tmp_path / "eval")) == 2 * POINTS
    assert len(read_json(tmp_path / "eval" / "language.json")["cells"]) == 2 * POINTS
    page = write_text_report(tmp_path / "eval").read_text()
    assert "one" in page
    assert "two" in page
