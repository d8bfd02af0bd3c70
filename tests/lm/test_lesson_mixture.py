from collections import Counter

import pytest

from recherche.lm.lesson_mixture import BLOCK, LessonMixture
from tests.lm.taught import tiny_teaching, tiny_writer


@pytest.fixture(scope="module")
def writer():
    return tiny_writer()


def test_a_lesson_is_a_function_of_seed_and_number(writer):
    mixtures = [LessonMixture(tiny_teaching(seed=seed), writer) for seed in (0, 0, 1)]
    lessons = [[mixture.lesson(number) for number in (3, 1, 2)] for mixture in mixtures]
    assert lessons[0] == lessons[1] != lessons[2]


def test_each_number_is_taught_once_and_what_is_read_does_not_depend_on_the_order(writer):
    mixture = LessonMixture(tiny_teaching(steps=20), writer)
    size = 2 * BLOCK * 4
    forward = [mixture[i] for i in range(size)]
    again = LessonMixture(tiny_teaching(steps=20), writer)
    assert [again[i] for i in reversed(range(size))] == forward[::-1]
    assert Counter(forward) == Counter(mixture.lesson(number) for number in range(size))


def test_a_batch_holds_lessons_of_like_length(writer):
    mixture = LessonMixture(tiny_teaching(steps=20, sizes=((1, 9),)), writer)
    lengths = [len(mixture[i].ids) for i in range(BLOCK * 4)]
    batches = [lengths[i : i + 4] for i in range(0, len(lengths), 4)]
    assert [length for batch in sorted(batches) for length in batch] == sorted(lengths)
    assert batches != sorted(batches)  # short ones do not all come first


SHARES = {
    "all searching": ({"prose_share": 0, "search_share": 1}, {(False, True): 1}),
    "all direct": ({"prose_share": 0, "search_share": 0}, {(False, False): 1}),
    "a mixture": ({}, {(True, True): 0.2, (False, True): 0.4, (False, False): 0.4}),
}


@pytest.mark.parametrize(("fields", "expected"), SHARES.values(), ids=SHARES)
def test_shares_are_those_that_were_asked_for(writer, fields, expected):
    mixture = LessonMixture(tiny_teaching(**fields), writer)
    kinds = Counter((all(lesson.written), lesson.may_search) for lesson in map(mixture.lesson, range(300)))
    assert set(kinds) == set(expected)
    for kind, share in expected.items():
        assert kinds[kind] / 300 == pytest.approx(share, abs=0.08)


def test_all_tasks_and_sizes_are_drawn(writer):
    teaching = tiny_teaching(tasks=("phonebook", "variables"), sizes=((3, 4), (6, 6)), prose_share=0, search_share=0)
    mixture = LessonMixture(teaching, writer)
    texts = [writer.codec.decode(mixture.lesson(number).ids) for number in range(60)]
    assert {text.partition("\nQuestion")[0].count("\n") for text in texts if "number of" in text} == {3, 4, 6}
    assert {"number of" in text for text in texts} == {True, False}


@pytest.mark.parametrize("num_words", [100, 1000])
def test_held_out_prose_is_never_taught(writer, tmp_path, num_words):
    path = tmp_path / "prose.txt"
    path.write_text(" ".join(f"w{i:04d}" for i in range(num_words)))
    mixture = LessonMixture(tiny_teaching(prose=str(path), prose_share=0.99), writer)
    words = [set(writer.codec.decode(lesson.ids).split()) for lesson in map(mixture.lesson, range(200))]
    taught = {word for lesson in words for word in lesson if len(word) == 5}
    held_out = mixture.held_out_prose(8)
    apart = {word for lesson in held_out for word in writer.codec.decode(lesson.ids).split() if len(word) == 5}
    assert 1 <= len(held_out) <= 8
    assert apart
    assert not taught & apart
    assert max(taught) < f"w{int(num_words * 0.95):04d}" <= min(apart)


def test_there_are_as_many_lessons_as_all_steps_take(writer):
    assert len(LessonMixture(tiny_teaching(steps=5, accumulation=3, batch_size=2), writer)) == 30
