import json
from dataclasses import replace
from pathlib import Path

import pytest

from recherche.errors import ConfigError
from recherche.evaluation import wilson_interval
from recherche.experiments.hotpot_answers import Answers, numbers_of
from recherche.experiments.hotpot_plan import Answering, HotpotPlan, Material, gather
from recherche.experiments.language_subject import load_subject
from tests.experiments.made_up_readers import FACTS, Reader, write_folder
from tests.lm.tiny_models import tiny_folder
from tests.texts.made_up_hotpot import write_hotpot


@pytest.fixture
def material(tmp_path: Path) -> Material:
    return gather(HotpotPlan(folders=(write_folder(tmp_path / "mamba"),), data=write_hotpot(tmp_path / "dev.json")))


def answers(material: Material, reader: Reader, out: Path, protocol: str = "direct") -> Answers:
    point = material.point("mamba", protocol, "last", n=6)
    return Answers(material, point, reader, out, batch_size=3)


def test_answers_are_graded_by_the_official_rules(material: Material, tmp_path: Path):
    told: list[int] = []
    samples = answers(material, Reader(foolish=("Were",)), tmp_path / "out").of(material.candidates, tell=told.append)
    assert told == [0, 3, 6, 9, 12, 15, 18, 20]
    for sample, question in zip(samples, material.candidates, strict=True):
        expected = question.kind == "bridge"
        assert (sample["right"], sample["decided"], sample["f1"]) == (expected, expected, float(expected))
        assert sample["answers"] == [question.answer]
        assert sample["answer"] == (f"the {question.answer}" if expected else "")
    numbers = numbers_of(samples)
    right = sum(question.kind == "bridge" for question in material.candidates)
    assert (numbers["accuracy"], numbers["num_undecided"]) == (right / 20, 20 - right)
    assert (numbers["accuracy_low"], numbers["accuracy_high"]) == wilson_interval(right, 20)
    assert numbers["measured_by"] == "generation"


def test_f1_has_an_interval_of_its_own():
    samples = [
        {"right": right, "f1": f1, "decided": True, "seconds": 0.5, "prompt_tokens": 10, "tokens": 2, "searches": []}
        for right, f1 in ((True, 1.0), (False, 0.5), (False, 0.0))
    ]
    numbers = numbers_of(samples)
    assert numbers["f1"] == 0.5
    assert (numbers["f1_low"], numbers["f1_high"]) == wilson_interval(1.5, 3)
    assert numbers["accuracy"] == pytest.approx(1 / 3)


def test_answers_that_are_there_are_not_asked_for_again(material: Material, tmp_path: Path):
    out, first, second = tmp_path / "out", Reader(), Reader()
    answers(material, first, out).of(material.candidates[:7], tell=lambda done: None)
    path = out / "samples.jsonl"
    path.write_text(path.read_text() + '{"id": "cut sho')
    samples = answers(material, second, out).of(material.candidates[2:10], tell=lambda done: None)
    assert (len(first.asked), len(second.asked)) == (7, 3)
    assert [sample["id"] for sample in samples] == [question.id for question in material.candidates[2:10]]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["id"] for line in lines] == [question.id for question in material.candidates[:10]]


def test_searches_are_kept_with_where_they_found_something(material: Material, tmp_path: Path):
    [sample] = answers(material, Reader(), tmp_path, "search").of(material.candidates[:1], tell=lambda done: None)
    [search] = sample["searches"]
    assert (search["status"], search["asked"], search["found"]) == ("OK", "line with Q", "Q")
    begin, end = search["span"]
    kept = {place: text for place, text in sample["prompt"]}
    piece = max(place for place in kept if place <= begin)
    assert kept[piece][begin - piece : end - piece] == "Q"


def test_a_prompt_that_is_too_long_is_refused(material: Material, tmp_path: Path):
    reader = Reader(facts=replace(FACTS, positions=300))
    with pytest.raises(ConfigError, match=r"A prompt of \d+ tokens and an answer of 256 exceed the 300 positions"):
        answers(material, reader, tmp_path / "out").of(material.candidates, tell=lambda done: None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("family", ["mamba", "llama"])
def test_a_real_model_is_asked_by_both_protocols(family: str, tmp_path: Path):
    folder = tiny_folder(tmp_path / family, family)
    data = write_hotpot(tmp_path / "dev.json")
    answering = Answering(shots=0, max_new_tokens=6, dtype="float32")
    material = gather(HotpotPlan(folders=(folder,), data=data, answering=answering))
    subject = load_subject(folder, device="cpu", dtype="float32")
    for protocol in ("direct", "search"):
        point = material.point(family, protocol, "random", n=2)
        samples = Answers(material, point, subject, tmp_path / protocol, batch_size=2).of(
            material.candidates[:3], tell=lambda done: None
        )
        for sample in samples:
            assert (sample["right"], sample["decided"], sample["answer"]) == (False, False, "")
            assert 0 < sample["tokens"] <= 6
            assert sample["prompt_tokens"] > 50
        assert numbers_of(samples)["num_undecided"] == 3
