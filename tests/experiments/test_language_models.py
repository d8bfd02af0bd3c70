from pathlib import Path

import pytest

from recherche.errors import ConfigError
from recherche.experiments.cell import Progress
from recherche.experiments.files import read_json, read_json_lines, write_json_lines
from recherche.experiments.language_models import Machine, measure_points, points_left
from recherche.experiments.language_points import LanguagePoint, Sampling, make_points
from recherche.report import write_text_report
from tests.experiments.pretend_subject import PretendSubject, pretend_folder, say, wrong_alone

TIMES = ("seconds", "tokens_per_second", "versions")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return pretend_folder(tmp_path / "mine")


def points_of(*folders: Path, num: int = 4, sizes=(3, 6)) -> dict[str, LanguagePoint]:
    return make_points(
        folders, tasks=["phonebook"], sizes=sizes, protocols=["direct", "search"], sampling=Sampling(num=num)
    )


def run(points, out, subject=None, *, told=None, load=None):
    subject = subject or PretendSubject(wrong_alone)
    machine = Machine(batch_size=2, load=load or (lambda folder, device, dtype: subject))
    messages = told if told is not None else []
    return measure_points(points, out, machine=machine, on_message=lambda *message: messages.append(message))


def rows(out: Path) -> list[dict]:
    """The lines, without what another machine or moment would change."""
    return [{k: v for k, v in row.items() if k not in TIMES} for row in read_json_lines(out / "results.jsonl")]


def test_every_point_gets_a_line_and_none_is_measured_twice(folder, tmp_path):
    out, points = tmp_path / "out", points_of(folder)
    assert sorted(run(points, out).results) == sorted(points)
    assert [row["point"] for row in rows(out)] == list(points)
    assert [row["accuracy"] for row in rows(out)] == [0.0, 1.0, 0.0, 1.0]
    assert points_left(points, out) == {}
    idle = PretendSubject()
    assert run(points, out, idle).results == {}
    assert idle.prompts == []
    assert read_json(out / "language.json").items() >= {"cells": list(points), "failed": [], "seeds": [0]}.items()


@pytest.mark.parametrize("interrupt_at", [4, 5, 0], ids=["after the second point", "within the third", "at once"])
def test_after_an_interruption_the_same_command_ends_with_the_same_lines(folder, tmp_path, interrupt_at):
    points = points_of(folder)
    run(points, tmp_path / "whole")
    out = tmp_path / "out"
    first = run(points, out, PretendSubject(wrong_alone, interrupt_at=interrupt_at))
    done = interrupt_at // 2
    assert (list(first.results), first.stopped) == (list(points)[:done], list(points)[done:])
    assert [row["point"] for row in rows(out)] == list(points)[:done]
    second = PretendSubject(wrong_alone)
    assert run(points, out, second).stopped == []
    assert len(second.prompts) == 16 - 2 * interrupt_at
    assert rows(out) == rows(tmp_path / "whole")


def test_progress_and_lines_are_told(folder, tmp_path):
    told: list = []
    run(points_of(folder, sizes=(3,)), tmp_path / "out", told=told)
    kinds = [(name, message.done if isinstance(message, Progress) else message["accuracy"]) for name, message in told]
    direct, search = "mine-phonebook-direct-n3", "mine-phonebook-search-n3"
    assert kinds == [(direct, 2), (direct, 4), (direct, 0.0), (search, 2), (search, 4), (search, 1.0)]


def test_a_point_that_fails_is_named_and_the_others_finish(folder, tmp_path):
    def answer(protocol, prompt):
        if protocol == "search":
            raise MemoryError("too long")
        return say(prompt, " 1\n")

    points, told = points_of(folder, sizes=(3,)), []
    outcome = run(points, tmp_path / "out", PretendSubject(answer), told=told)
    [failure] = outcome.failures
    assert failure == ("mine-phonebook-search-n3", "MemoryError: too long")
    assert list(outcome.results) == ["mine-phonebook-direct-n3"]
    assert ("mine-phonebook-search-n3", failure) in told
    assert "failed: MemoryError: too long" in write_text_report(tmp_path / "out").read_text()
    assert list(points_left(points, tmp_path / "out")) == ["mine-phonebook-search-n3"]


def test_a_folder_that_cannot_be_loaded_fails_with_all_its_points_and_no_others(folder, tmp_path):
    broken = pretend_folder(tmp_path / "broken", b"other weights")

    def load(path, device, dtype):
        if path == broken:
            raise ConfigError("no tokenizer")
        return PretendSubject()

    outcome = run(points_of(broken, folder, sizes=(3,)), tmp_path / "out", load=load)
    assert [(failure.cell, failure.error) for failure in outcome.failures] == [
        ("broken-phonebook-direct-n3", "no tokenizer"),
        ("broken-phonebook-search-n3", "no tokenizer"),
    ]
    assert len(outcome.results) == 2


def test_a_model_is_loaded_once_and_not_at_all_where_nothing_is_left(folder, tmp_path):
    loaded = []

    def load(path, device, dtype):
        loaded.append(path)
        return PretendSubject()

    for _ in range(2):
        run(points_of(folder), tmp_path / "out", load=load)
    assert loaded == [folder]


def test_another_command_adds_to_the_folder(folder, tmp_path):
    out = tmp_path / "out"
    run(points_of(folder, sizes=(3,)), out)
    run(points_of(folder, sizes=(6,)), out)
    assert [row["n"] for row in rows(out)] == [3, 3, 6, 6]
    assert len(read_json(out / "language.json")["cells"]) == 4


def test_a_changed_model_takes_the_place_of_its_predecessor(folder, tmp_path):
    out = tmp_path / "out"
    run(points_of(folder), out)
    (folder / "model.safetensors").write_bytes(b"taught")
    points = points_of(folder)
    assert list(points_left(points, out)) == list(points)
    run(points, out, PretendSubject())
    assert [(row["point"], row["accuracy"]) for row in rows(out)] == [(name, 1.0) for name in points]


def test_a_page_is_drawn_of_what_there_is(folder, tmp_path):
    out = tmp_path / "out"
    run(points_of(folder), out)
    text = write_text_report(out).read_text()
    assert "mine, phonebook at n = 6: searching 1.000" in text
    assert "Search 1 of 1, “after it”: found “" in text.replace("\\u201c", "“").replace("\\u201d", "”")


def test_a_folder_of_something_else_is_left_alone(folder, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    write_json_lines(out / "results.jsonl", [])
    with pytest.raises(ConfigError, match="was not made by `lm eval`"):
        run(points_of(folder), out)


def test_a_batch_of_none_is_refused(folder, tmp_path):
    with pytest.raises(ConfigError, match="one at least, got 0"):
        measure_points(points_of(folder), tmp_path / "out", machine=Machine(batch_size=0), on_message=print)
    assert not (tmp_path / "out").exists()
