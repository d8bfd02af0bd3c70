from types import SimpleNamespace

import pytest
import torch

from recherche.errors import ConfigError
from recherche.experiments.cell import Stopped, Watch
from recherche.experiments.demo.course import Course, narrow, run_course
from recherche.experiments.files import read_json, read_json_lines
from recherche.lm.folder import load_language_model
from tests.experiments.demo.tiny_demo import SMOKE, enrolment

TIMES = ("seconds", "tokens_per_second")


def weights(folder):
    return load_language_model(folder).model.state_dict()


def without_times(rows):
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


@pytest.fixture(scope="module")
def twice():
    """A course of two lessons."""
    student = SMOKE.students["mamba"]
    return student.model_copy(update={"lessons": student.lessons * 2})


@pytest.mark.parametrize("name", SMOKE.students)
def test_a_student_ends_as_a_folder_of_transformers(name, tokenizer_folder, little_prose, tmp_path):
    told = []
    result = run_course(enrolment(name, tokenizer_folder), tmp_path, watch=Watch(report=told.append))
    assert result["train_steps"] == told[-1].done == told[-1].total == 6
    assert result == read_json(tmp_path / "result.json")
    model, tokenizer = load_language_model(tmp_path / name)
    assert model.config.eos_token_id == tokenizer.eos_token_id
    assert run_course(enrolment(name, tokenizer_folder), tmp_path) == result


@pytest.mark.parametrize("rows_before", [1, 3, 4], ids=["within a lesson", "between lessons", "within the next"])
def test_a_resumed_course_equals_an_uninterrupted_one(twice, rows_before, tokenizer_folder, little_prose, tmp_path):
    pupil = enrolment("mamba", tokenizer_folder, student=twice)
    run_course(pupil, tmp_path / "whole")
    asked = iter([*[False] * (rows_before - 1), True])
    with pytest.raises(Stopped):
        run_course(pupil, tmp_path / "broken", watch=Watch(stop=lambda: next(asked)))
    run_course(pupil, tmp_path / "broken")
    whole, broken = (weights(tmp_path / name / "mamba") for name in ("whole", "broken"))
    assert all(torch.equal(whole[name], broken[name]) for name in whole)
    rows = [without_times(read_json_lines(tmp_path / name / "metrics.jsonl")) for name in ("whole", "broken")]
    assert rows[0] == rows[1]


def test_another_seed_ends_elsewhere(tokenizer_folder, little_prose, tmp_path):
    for seed in (0, 1):
        run_course(enrolment("mamba", tokenizer_folder, seed=seed), tmp_path / str(seed))
    one, other = (weights(tmp_path / seed / "mamba") for seed in "01")
    assert not torch.equal(one["backbone.embeddings.weight"], other["backbone.embeddings.weight"])


def test_the_folder_of_another_course_is_refused(tokenizer_folder, little_prose, tmp_path):
    run_course(enrolment("mamba", tokenizer_folder), tmp_path)
    with pytest.raises(ConfigError, match="belongs to course"):
        run_course(enrolment("mamba", tokenizer_folder, seed=1), tmp_path)


def test_within_the_window_a_narrowed_model_is_the_same_and_beyond_it_forgets(tokenizer_folder, little_prose, tmp_path):
    course = Course.open(enrolment("transformer", tokenizer_folder), tmp_path, Watch(), "cpu")
    course.save(tmp_path / "narrow")
    narrow(tmp_path / "narrow", 8)
    window = SimpleNamespace(layers=2, tokens=8)
    tokens = torch.arange(40)[None] + 300
    other = tokens.clone()
    other[0, 0] = 7
    with torch.inference_mode():
        ours = course.model(tokens)
        theirs, after_another_beginning = (
            load_language_model(tmp_path / "narrow").model(x).logits for x in (tokens, other)
        )
    torch.testing.assert_close(theirs[0, : window.tokens], ours[0, : window.tokens], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(theirs[0, -1], ours[0, -1], atol=1e-3)
    reach = window.layers * (window.tokens - 1)
    torch.testing.assert_close(theirs[0, reach + 1 :], after_another_beginning[0, reach + 1 :])
    assert not torch.allclose(theirs[0, reach], after_another_beginning[0, reach], atol=1e-7)
