import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recherche.errors import ConfigError
from recherche.experiments.cell import Progress
from recherche.experiments.hotpot import CHOOSING, Kept, expected_work, measure_hotpot
from recherche.experiments.hotpot_plan import HotpotPlan, gather
from recherche.experiments.language_models import Machine
from tests.experiments.made_up_readers import Reader, write_folder
from tests.texts.made_up_hotpot import write_hotpot

Readers = dict[str, Reader]


@pytest.fixture
def plan(tmp_path: Path) -> HotpotPlan:
    folders = tuple(write_folder(tmp_path / name, name) for name in ("mamba", "llama"))
    return HotpotPlan(folders=folders, data=write_hotpot(tmp_path / "dev.json"), paragraphs=(2, 6))


@pytest.fixture
def readers() -> Readers:
    """One that forgets all but two paragraphs, and one that forgets nothing but cannot compare."""
    return {"mamba": Reader(memory=2), "llama": Reader(foolish=("Were",))}


def machine(readers: Readers) -> Machine:
    return Machine(batch_size=4, load=lambda folder, **_: readers[folder.name])


def measure(plan: HotpotPlan, out: Path, readers: Readers, heard: Callable[..., None] = lambda *_: None) -> Any:
    return measure_hotpot(gather(plan), out, machine=machine(readers), on_message=heard)


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


def accuracies(out: Path) -> dict[tuple[str, str, str, int], float]:
    return {(row["folder"], row["protocol"], row["order"], row["n"]): row["accuracy"] for row in rows(out)}


def test_questions_that_all_answer_are_asked_among_distractors(plan: HotpotPlan, readers: Readers, tmp_path: Path):
    out = tmp_path / "out"
    outcome = measure(plan, out, readers)
    assert (outcome.failures, outcome.stopped) == ([], [])
    record = json.loads((out / "hotpot.json").read_text())
    bridges = [question.id for question in gather(plan).candidates if question.kind == "bridge"]
    assert record["kept"] == bridges
    assert (record["num_asked"], record["num_candidates"], record["num_questions"]) == (20, 20, 24)
    found = accuracies(out)
    assert len(found) == 2 * 2 * 2 * 2
    assert {value for (*_, n), value in found.items() if n == 2} == {1.0}
    assert found["mamba", "direct", "last", 6] == 1.0
    assert found["mamba", "direct", "random", 6] < 0.5
    assert found["mamba", "search", "random", 6] == found["llama", "direct", "random", 6] == 1.0
    row = rows(out)[0]
    assert row["num_samples"] == len(bridges)
    assert row["measured_by"] == "generation"
    assert row["versions"]["recherche"]


def test_as_many_questions_are_kept_as_are_wanted(plan: HotpotPlan, readers: Readers, tmp_path: Path):
    out, seen = tmp_path / "out", []
    measure(replace(plan, num=5), out, readers, lambda name, message: seen.append((name, message)))
    record = json.loads((out / "hotpot.json").read_text())
    assert len(record["kept"]) == 5
    assert record["num_asked"] == 8
    *progress, end = [message for name, message in seen if name == CHOOSING]
    assert isinstance(end, Kept)
    assert progress[-1].note == "5 of 5 kept, 8 asked"
    assert progress[-1].done == progress[-1].total
    assert {row["num_samples"] for row in rows(out)} == {5}
    ended = [message for name, message in seen if isinstance(message, dict)]
    assert len(ended) == 16


def test_a_later_model_is_asked_only_what_the_earlier_ones_answer(plan: HotpotPlan, readers: Readers, tmp_path: Path):
    measure(
        replace(plan, folders=plan.folders[::-1], paragraphs=(2,), protocols=("direct",)), tmp_path / "out", readers
    )
    assert len(readers["llama"].asked) == 20
    assert not any("Were" in prompt.rpartition("Question:")[2] for _, prompt in readers["mamba"].asked)


def test_the_same_command_goes_on_where_it_stopped(plan: HotpotPlan, readers: Readers, tmp_path: Path):
    out, count = tmp_path / "out", []

    def interrupt(name: str, message: Any) -> None:
        if isinstance(message, Progress) and name.endswith("n6"):
            count.append(name)
            if len(count) == 4:
                raise KeyboardInterrupt

    stopped = measure(plan, out, readers, interrupt)
    assert stopped.stopped
    assert 0 < len(stopped.results) < 16
    whole = tmp_path / "whole"
    fresh = {name: replace(reader, asked=[]) for name, reader in readers.items()}
    measure(plan, whole, fresh)
    again = {name: replace(reader, asked=[]) for name, reader in readers.items()}
    assert measure(plan, out, again).stopped == []
    assert accuracies(out) == accuracies(whole)
    for name in readers:
        assert len(readers[name].asked) + len(again[name].asked) == len(fresh[name].asked)
    third = {name: replace(reader, asked=[]) for name, reader in readers.items()}
    measure(replace(plan, paragraphs=(2, 4, 6)), out, third)
    assert {len(prompt.rpartition("So the answer is:")[2].split("\n\n")) for _, prompt in third["mamba"].asked} == {6}


def test_a_point_that_fails_is_named_and_the_others_go_on(plan: HotpotPlan, readers: Readers, tmp_path: Path):
    class Fragile(Reader):
        def write(self, protocol, prompts, *, max_new_tokens):
            if protocol == "search":
                raise RuntimeError("out of memory")
            return super().write(protocol, prompts, max_new_tokens=max_new_tokens)

    outcome = measure(plan, tmp_path / "out", readers | {"mamba": Fragile(memory=2)})
    assert {failure.error for failure in outcome.failures} == {"RuntimeError: out of memory"}
    assert {failure.cell for failure in outcome.failures} == {
        f"mamba-search-{order}-n{n}" for order in ("random", "last") for n in (2, 6)
    }
    assert len(rows(tmp_path / "out")) == 12
    record = json.loads((tmp_path / "out" / "hotpot.json").read_text())
    assert len(record["failed"]) == 4


def test_all_parts_that_are_told_of_are_weighed(plan: HotpotPlan, readers: Readers, tmp_path: Path):
    told: set[str] = set()
    measure(plan, tmp_path / "out", readers, lambda name, message: told.add(name))
    work = expected_work(gather(plan))
    assert told == set(work)
    assert work["mamba-direct-random-n2"] == 20 * (8 + 2) < work["mamba-direct-random-n6"]


def test_models_that_answer_nothing_are_refused(plan: HotpotPlan, readers: Readers, tmp_path: Path):
    with pytest.raises(ConfigError, match="None of 20 questions is answered by every model with two paragraphs"):
        measure(plan, tmp_path / "out", readers | {"llama": Reader(foolish=("?",))})


def test_a_folder_of_something_else_is_refused(plan: HotpotPlan, readers: Readers, tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="was not made by `recherche hotpot`"):
        measure(plan, tmp_path / "out", readers)
    with pytest.raises(ConfigError, match="one at least, got 0"):
        measure_hotpot(gather(plan), tmp_path / "new", machine=Machine(batch_size=0), on_message=lambda *_: None)
