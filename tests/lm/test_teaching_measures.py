import pytest

from recherche.errors import ConfigError
from recherche.lm import teaching_measures
from recherche.lm.teaching_measures import accuracy, measured, require_fit
from tests.lm.taught import tiny_pupil, tiny_teaching

TEACHING = tiny_teaching(held_out_tasks=("variables",), held_out_sizes=(9,), num_evaluated=3)


@pytest.fixture(scope="module")
def pupil():
    return tiny_pupil("llama", max_position_embeddings=4000)


def test_all_tasks_sizes_and_protocols_are_measured_on_the_same_texts(pupil):
    kinds = measured(TEACHING, pupil.writer)
    expected = [f"{task}_n{n}_{p}" for task in ("phonebook", "variables") for n in (3, 9) for p in ("direct", "search")]
    assert list(kinds) == expected
    assert kinds["phonebook_n9_direct"].examples == kinds["phonebook_n9_search"].examples
    assert {text.context.count("\n") for text in kinds["phonebook_n9_direct"].examples} == {9}


def test_untaught_protocols_are_not_measured(pupil):
    assert list(measured(tiny_teaching(search_share=1), pupil.writer)) == ["phonebook_n3_search"]


@pytest.mark.parametrize("name", ["phonebook_n9_search", "variables_n9_search"])
def test_a_right_answer_has_room(pupil, name):
    kind = measured(TEACHING, pupil.writer)[name]
    for lesson in kind.lessons:
        assert len(lesson.ids) - lesson.written.index(True) <= kind.budget / 2


@pytest.mark.parametrize("protocol", ["direct", "search"])
def test_a_random_model_answers_by_real_generation(pupil, protocol):
    kind = measured(TEACHING, pupil.writer)[f"phonebook_n3_{protocol}"]
    assert accuracy(pupil.model, pupil.tokenizer, kind, batch_size=2) == 0


def test_right_answers_are_counted(pupil, monkeypatch):
    kind = measured(TEACHING, pupil.writer)["phonebook_n3_search"]
    right = {text.prompt: text.target for text in kind.examples[:2]}
    monkeypatch.setattr(
        teaching_measures, "_answers", lambda m, t, p, prompts, **_: [right.get(prompt, " 1\n") for prompt in prompts]
    )
    assert accuracy(pupil.model, pupil.tokenizer, kind, batch_size=2) == pytest.approx(2 / 3)


def test_texts_that_a_model_cannot_read_are_refused(pupil):
    kinds = measured(TEACHING, pupil.writer)
    require_fit(pupil.model, kinds)
    require_fit(tiny_pupil("mamba").model, kinds)
    with pytest.raises(ConfigError, match=r"phonebook_n9_direct have up to .* 200 positions"):
        require_fit(tiny_pupil("llama", max_position_embeddings=200).model, kinds)
