import pytest

from recherche.experiments.demo.presets import PRESETS, DemoPreset
from recherche.experiments.demo.rows import TaughtTask
from recherche.texts import TEXT_TASKS


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_preset_comes_back_from_its_json(preset):
    assert DemoPreset.model_validate_json(preset.model_dump_json()) == preset


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_all_that_is_taught_and_measured_exists_and_fits_the_tokenizer(preset):
    for student in preset.students.values():
        assert student.model.vocab_size == preset.vocab_size
        for task in (task for lesson in student.lessons for task in lesson.mixture.tasks):
            assert isinstance(task, TaughtTask)
            assert TEXT_TASKS[task.name](n=task.least).n <= task.most
    for measured in preset.measured:
        assert [TEXT_TASKS[measured.task](n=n).n for n in measured.sizes] == list(measured.sizes)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_window_is_as_wide_as_the_longest_row_that_was_read(preset):
    for student in preset.students.values():
        widest = max(lesson.mixture.tokens for lesson in student.lessons)
        assert student.window in (None, widest)


def test_the_demonstration_reaches_a_hundred_times_what_was_taught():
    demo = PRESETS["demo"]
    taught = {task.name: task.most for task in demo.students["mamba"].lessons[-1].mixture.tasks}
    assert {measured.task: max(measured.sizes) for measured in demo.measured} == {k: 100 * n for k, n in taught.items()}
    assert all(taught[measured.task] in measured.sizes for measured in demo.measured)
