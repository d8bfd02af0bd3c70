from dataclasses import replace
from math import log2
from pathlib import Path

import pytest

from recherche.experiments.files import read_json_lines
from recherche.experiments.language_point import SPARE_TOKENS, measure_point, right_answer
from recherche.experiments.language_points import LanguagePoint, Sampling, make_points
from recherche.lm import Markers
from recherche.text_queries import After
from recherche.texts import TEXT_TASKS, Ask, Phonebook
from tests.experiments.pretend_subject import FACTS, PretendSubject, pretend_folder, wrong_alone


@pytest.fixture
def point(tmp_path: Path) -> LanguagePoint:
    folder = pretend_folder(tmp_path / "mine")
    sampling = Sampling(num=5)
    points = make_points([folder], tasks=["phonebook"], sizes=[12], protocols=["search"], sampling=sampling)
    return points["mine-phonebook-search-n12"]


def measured(point, subject, folder, *, batch_size=2, told=None):
    return measure_point(point, subject, folder, batch_size=batch_size, tell=(told if told is not None else []).append)


def test_a_line_holds_what_was_measured(point, tmp_path):
    line = measured(point, PretendSubject(), tmp_path / "out")
    prompts = [point.build().example(key).prompt for key in point.text_keys]
    expected = {
        **{"point": "mine-phonebook-search-n12", "folder": "mine", "model_type": "pretend", "num_parameters": 12},
        **{"task": "phonebook", "protocol": "search", "n": 12, "accuracy": 1.0, "accuracy_high": 1.0},
        **{"num_samples": 5, "num_undecided": 0, "searches_per_answer": 1.0, "search_outcomes": {"OK": 1.0}},
        **{"prompt_tokens": sum(map(len, prompts)) / 5, "state_bits": 8 * len(prompts[0]), "seed": 0},
        **{"config_hash": point.hash, "dtype": "float32", "device": "CPU", "refused": None},
    }
    assert line.items() >= expected.items()
    assert "torch" in line["versions"]
    assert line["seconds"] > 0


@pytest.mark.parametrize(
    ("task", "n", "bits"),
    [
        pytest.param("phonebook", 12, 12 * (7 * log2(10)), id="seven digits a person"),
        pytest.param("keyvalue", 3, 3 * (128 - 6), id="a random UUID has six fixed bits"),
        pytest.param("variables", 9, 3 * log2(99999 - 9999), id="a value of five digits for each chain of three"),
    ],
)
def test_the_bound_is_the_bits_of_all_that_may_be_asked(task, n, bits):
    assert TEXT_TASKS[task].configured(n=n).lower_bound_bits == pytest.approx(bits)


def test_the_bound_of_a_point_is_that_of_its_task_at_its_size(point, tmp_path):
    assert measured(point, PretendSubject(), tmp_path)["required_bits"] == pytest.approx(12 * 7 * log2(10))


def test_direct_and_searching_differ_as_the_model_does(point, tmp_path):
    lines = [
        measured(replace(point, protocol=name), PretendSubject(wrong_alone), tmp_path / name)
        for name in ("direct", "search")
    ]
    assert [line["accuracy"] for line in lines] == [0.0, 1.0]
    assert [line["searches_per_answer"] for line in lines] == [0.0, 1.0]


def test_progress_is_told_after_each_batch(point, tmp_path):
    told = []
    measured(point, PretendSubject(), tmp_path, told=told)
    assert [(progress.done, progress.total, progress.note) for progress in told] == [
        (2, 5, "2/2 right"),
        (4, 5, "4/4 right"),
        (5, 5, "5/5 right"),
    ]


def test_an_interrupted_point_goes_on_where_it_was_and_ends_the_same(point, tmp_path):
    whole = measured(point, PretendSubject(), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        measured(point, PretendSubject(interrupt_at=2), tmp_path / "out")
    samples = tmp_path / "out" / "samples.jsonl"
    assert len(read_json_lines(samples)) == 4
    with samples.open("a") as file:
        file.write('{"right": tr')  # a crash in the middle of a line
    second = PretendSubject()
    line = measured(point, second, tmp_path / "out")
    assert len(second.prompts) == 1
    times = {"seconds": 0, "tokens_per_second": 0}
    assert line | times == whole | times
    assert [sample["key"] for sample in read_json_lines(samples)] == point.text_keys


def test_the_budget_is_twice_the_right_answer_and_a_little(point, tmp_path):
    subject = PretendSubject()
    measured(point, subject, tmp_path, batch_size=5)
    examples = [point.build().example(key) for key in point.text_keys]
    assert subject.budgets == [2 * max(len(right_answer(e, "search", Markers())) for e in examples) + SPARE_TOKENS]


@pytest.mark.parametrize(
    ("extra", "refused"), [pytest.param(0, False, id="just enough"), pytest.param(-1, True, id="one too few")]
)
def test_texts_that_exceed_the_positions_are_refused_before_any_is_given(point, tmp_path, extra, refused):
    examples = [point.build().example(key) for key in point.text_keys]
    longest = max(len(e.prompt) + len(right_answer(e, "search", Markers())) for e in examples)
    subject = PretendSubject(facts=replace(FACTS, positions=longest + extra))
    line = measured(point, subject, tmp_path / "out", batch_size=5)
    assert (line["refused"] is not None) is refused
    if refused:
        assert f"the {longest - 1:,} positions of this pretend (config.max_position_embeddings)" in line["refused"]
        assert "accuracy" not in line
        assert (subject.prompts, (tmp_path / "out").exists()) == ([], False)
    else:
        assert subject.budgets[0] + max(len(e.prompt) for e in examples) <= longest


def test_a_size_that_the_task_cannot_have_is_refused_by_the_task(point, tmp_path):
    line = measured(replace(point, n=10**9), PretendSubject(), tmp_path)
    assert "phonebook takes n from 1 to" in line["refused"]


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        pytest.param("direct", " {number}\n", id="direct"),
        pytest.param("search", "<search>after {name}:</search><found>{number}</found> {number}\n", id="search"),
    ],
)
def test_a_right_answer_is_the_reference_with_its_passages(protocol, expected):
    example = Phonebook(n=3).example(1)
    [ask] = [part for part in example.trace if isinstance(part, Ask)]
    assert isinstance(ask.query, After)
    text = expected.format(name=ask.query.key.removesuffix(":"), number=example.answers[0])
    assert right_answer(example, protocol, Markers()) == text


def test_a_search_that_finds_nothing_has_its_own_marker():
    example = Phonebook(n=3).example(1)
    empty = replace(example, trace=(Ask(After("Zed"), None), *example.trace[1:]))
    assert right_answer(empty, "search", Markers()).startswith("<search>after Zed</search><nothing> ")
