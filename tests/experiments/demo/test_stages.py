import pytest

from recherche.errors import ConfigError
from recherche.experiments.demo import stages
from recherche.experiments.demo.stages import Demo
from recherche.experiments.files import read_json, read_json_lines
from tests.experiments.demo.tiny_demo import SMOKE, short_prose


def silent(name, message):
    pass


def test_a_folder_belongs_to_one_preset_and_seed(tmp_path):
    Demo.open("smoke", tmp_path / "out", seed=1)
    assert read_json(tmp_path / "out" / "demo.json") == {"preset": "smoke", "seed": 1}
    with pytest.raises(ConfigError, match="'smoke' with seed 1, but 'demo' with seed 1"):
        Demo.open("demo", tmp_path / "out", seed=1)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="was not made by `recherche language`"):
        Demo.open("smoke", tmp_path, seed=0)


def test_a_preset_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="smok"):
        Demo.open("smok", tmp_path / "out", seed=0)


def test_the_tokenizer_is_trained_once(tmp_path, monkeypatch):
    monkeypatch.setattr(stages, "prose", short_prose)
    monkeypatch.setattr(stages, "SAMPLES", 5)
    demo = Demo.open("smoke", tmp_path / "out", seed=0)
    demo.make_tokenizer()
    first = (demo.tokenizer / "tokenizer.json").read_bytes()
    monkeypatch.setattr(stages, "train_tokenizer", None)
    demo.make_tokenizer()
    assert (demo.tokenizer / "tokenizer.json").read_bytes() == first


@pytest.mark.slow
def test_all_stages_leave_models_and_numbers_and_are_skipped_when_done(tmp_path):
    demo = Demo.open("smoke", tmp_path / "out", seed=0)
    demo.make_tokenizer()
    for stage in (demo.train, demo.measure):
        outcome = stage(jobs=2, on_message=silent)
        assert (sorted(outcome.results), outcome.failures, outcome.stopped) == (sorted(SMOKE.students), [], [])
    rows = read_json_lines(demo.eval / "results.jsonl")
    assert len(rows) == len(SMOKE.students) * 2 * sum(len(measured.sizes) for measured in SMOKE.measured)
    told = []
    demo.train(jobs=2, on_message=lambda *message: told.append(message))
    demo.measure(jobs=2, on_message=lambda *message: told.append(message))
    assert all(isinstance(message, dict) for _, message in told)
    assert read_json_lines(demo.eval / "results.jsonl") == rows
