import json
import warnings

import pytest
import torch

from recherche.errors import ConfigError
from recherche.lm.lesson_mixture import LessonMixture
from recherche.lm.own_kernels import own_kernels
from recherche.lm.teacher import Goals, Surroundings, Teacher, arguments, last_checkpoint
from tests.lm.taught import tiny_pupil, tiny_teaching


def teacher_of(folder, family="llama", *, stop=lambda: False, **fields):
    """A teacher of a tiny model, and the steps at which it has measured."""
    pupil, teaching, measured = tiny_pupil(family), tiny_teaching(**fields), []

    def measure():
        torch.rand(3)  # an evaluation may draw what it likes
        measured.append(len(measured))
        return {"number": float(len(measured))}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        teacher = Teacher(
            own_kernels(pupil.model) or pupil.model,
            LessonMixture(teaching, pupil.writer),
            teaching=teaching,
            surroundings=Surroundings(stop=stop),
            folder=folder,
            goals=Goals(pupil.writer.markers.start, measure),
        )
    return teacher, measured


def losses(teacher):
    return [(row["step"], row["loss"]) for row in teacher.state.log_history if "loss" in row]


@pytest.mark.parametrize("family", ["llama", "mamba"])
def test_a_teaching_that_was_stopped_goes_on_with_the_same_numbers(family, tmp_path):
    whole, _ = teacher_of(tmp_path / "whole", family)
    whole.teach()
    asked = iter([False, False, False, True])
    first, _ = teacher_of(tmp_path / "parts", family, stop=lambda: next(asked))
    first.teach()
    assert first.state.global_step == 4
    second, _ = teacher_of(tmp_path / "parts", family)
    second.teach()
    assert losses(second) == losses(whole)
    assert [step for step, _ in losses(whole)] == [1, 2, 3, 4, 5, 6]
    weights, expected = second.model.state_dict(), whole.model.state_dict()
    assert all(torch.equal(weights[name], weight) for name, weight in expected.items())


def test_another_seed_gives_other_numbers(tmp_path):
    teachers = [teacher_of(tmp_path / str(seed), seed=seed)[0] for seed in (0, 1)]
    for teacher in teachers:
        teacher.teach()
    assert losses(teachers[0]) != losses(teachers[1])


def test_two_passes_of_half_a_batch_are_one_step(tmp_path):
    teachers = [
        teacher_of(tmp_path / "one", batch_size=4, prose_share=0, sizes=((2, 2),))[0],
        teacher_of(tmp_path / "two", batch_size=2, accumulation=2, prose_share=0, sizes=((2, 2),))[0],
    ]
    numbers = [0, 1, 2, 3]
    for teacher in teachers:
        lessons = teacher.train_dataset
        lessons._block = lambda block, lessons=lessons: [*map(lessons.lesson, numbers)] * 100
        teacher.teach()
    (_, one), (_, two) = losses(teachers[0])[0], losses(teachers[1])[0]
    assert one == pytest.approx(two, rel=1e-4)


def test_it_measures_on_the_way_and_at_the_end_once_each(tmp_path):
    teacher, measured = teacher_of(tmp_path)
    teacher.teach()
    steps = [row["step"] for row in teacher.state.log_history if "eval_number" in row]
    assert steps == [4, 6]
    assert len(measured) == 2


def test_a_loss_that_is_no_number_ends_it(tmp_path):
    teacher, _ = teacher_of(tmp_path)
    with torch.no_grad():
        teacher.model.lm_head.weight.fill_(torch.nan)
    with pytest.raises(ConfigError, match="lower the learning rate"):
        teacher.teach()


def test_half_a_checkpoint_is_none(tmp_path):
    assert last_checkpoint(tmp_path) is None
    for step, text in ((9, '{"global_step": 9}'), (10, '{"global_step": 10}'), (11, '{"glob'), (12, None)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if text is not None:
            (folder / "trainer_state.json").write_text(text)
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    assert json.loads((tmp_path / "checkpoint-10" / "trainer_state.json").read_text())["global_step"] == 10


@pytest.mark.parametrize(
    ("tracker", "message"), [("tensorbored", "did you mean tensorboard"), ("wandb", "pip install wandb")]
)
def test_a_tracker_that_is_not_there_is_refused(tracker, message, tmp_path, monkeypatch):
    monkeypatch.setattr("recherche.lm.teacher.find_spec", lambda name: None)
    pupil, teaching = tiny_pupil("llama"), tiny_teaching()
    with pytest.raises(ConfigError, match=message):
        Teacher(
            pupil.model,
            LessonMixture(teaching, pupil.writer),
            teaching=teaching,
            surroundings=Surroundings(report_to=(tracker,)),
            folder=tmp_path,
            goals=Goals(pupil.writer.markers.start, dict),
        )


def test_settings_reach_trainer(tmp_path):
    teaching = tiny_teaching(steps=1000, accumulation=3, precision="bfloat16", seed=5)
    found = arguments(teaching, Surroundings("cpu", ("tensorboard",)), folder=tmp_path, rate=0.25)
    assert (found.max_steps, found.gradient_accumulation_steps, found.bf16, found.seed) == (1000, 3, True, 5)
    assert (found.learning_rate, found.report_to, found.use_cpu) == (0.25, ["tensorboard"], True)
    assert (found.save_steps, found.eval_steps) == (50, 4)
