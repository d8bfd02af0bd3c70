import re
from dataclasses import replace
from pathlib import Path

import pytest

from recherche.errors import ConfigError, InputError
from recherche.experiments.hotpot_plan import Answering, HotpotPlan, engine_searching, file_hash, gather
from recherche.text_queries import Sentence
from recherche.texts.base import Ask
from tests.experiments.made_up_readers import write_folder
from tests.texts.made_up_hotpot import entries, write_hotpot


@pytest.fixture
def plan(tmp_path: Path) -> HotpotPlan:
    folders = tuple(write_folder(tmp_path / name, name) for name in ("mamba", "llama"))
    return HotpotPlan(folders=folders, data=write_hotpot(tmp_path / "dev.json"))


def test_examples_are_never_asked(plan: HotpotPlan):
    material = gather(plan)
    asked = {question.id for question in material.candidates}
    assert (len(material.shots.ids), len(asked), material.num_questions) == (4, 20, 24)
    assert not asked & set(material.shots.ids)


def test_examples_of_another_file_are_never_asked_either(plan: HotpotPlan, tmp_path: Path):
    made = entries()
    own = [entry | {"_id": f"train-{entry['_id']}"} for entry in made]
    material = gather(replace(plan, shots_file=write_hotpot(tmp_path / "train.json", own)))
    assert all(name.startswith("train-") for name in material.shots.ids)
    assert len(material.candidates) == 20


def test_questions_come_in_an_order_of_the_seed(plan: HotpotPlan):
    orders = [
        [q.id for q in gather(replace(plan, answering=Answering(seed=seed, shots=0))).candidates] for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_a_prompt_is_examples_paragraphs_and_the_question(plan: HotpotPlan):
    material = gather(plan)
    question = material.candidates[0]
    for protocol, told in (("direct", "So the answer is"), ("search", "</found>")):
        prompt = material.prompt(material.point("llama", protocol, "last", n=6), question)
        assert prompt.count("Question:") == 5
        assert prompt.count(told) >= 4
        shown = prompt.rpartition("So the answer is")[2].split("\n\n")[1:]
        assert len(shown) == 7
        assert shown[-1] == f"Question: {question.question}\nAnswer:"
    assert "<search>" not in material.prompt(material.point("llama", "direct", "last", n=6), question)


def test_points_are_all_combinations_and_two_paragraphs_are_answered_once(plan: HotpotPlan):
    points = gather(plan).points()
    assert len({point.name for point in points}) == len(points) == 2 * 4 * 2 * 2
    assert len({point.folder_name for point in points}) == 2 * (1 + 3 * 2) * 2
    assert {point.n for point in gather(replace(plan, paragraphs=(6,))).points()} == {2, 6}


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"dtype": "bfloat16"},
        {"shots": 3},
        {"max_new_tokens": 64},
    ],
    ids=str,
)
def test_what_changes_an_answer_changes_the_hash(plan: HotpotPlan, changes: dict):
    before = gather(plan).point("llama", "direct", "random", n=4)
    other = gather(replace(plan, answering=replace(plan.answering, **changes)))
    assert other.point("llama", "direct", "random", n=4).hash != before.hash


def test_a_changed_model_or_file_changes_the_hash_and_more_questions_do_not(plan: HotpotPlan):
    before = gather(plan).point("llama", "direct", "random", n=4)
    assert gather(replace(plan, num=5, paragraphs=(4,))).point("llama", "direct", "random", n=4) == before
    (plan.folders[1] / "config.json").write_text("{}")
    changed = gather(plan).point("llama", "direct", "random", n=4)
    assert changed.hash != before.hash
    made = entries()
    made[0]["level"] = "easy"
    write_hotpot(plan.data, made)
    assert gather(plan).point("llama", "direct", "random", n=4).hash != changed.hash


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"orders": ("first",)}, "There is no order 'first'"),
        ({"protocols": ("cot",)}, "There is no protocol 'cot'"),
        ({"paragraphs": (2, 11)}, r"numbers from 2 to 10, got \[2, 11\]"),
        ({"paragraphs": (1,)}, r"numbers from 2 to 10, got \[1\]"),
        ({"paragraphs": ()}, r"numbers from 2 to 10, got \[\]"),
        ({"folders": ()}, "got 0 folders"),
        ({"num": 0}, "--num 0"),
    ],
)
def test_a_wrong_plan_is_refused(plan: HotpotPlan, changes: dict, message: str):
    with pytest.raises(ConfigError, match=message):
        replace(plan, **changes)


@pytest.mark.parametrize("changes", [{"shots": -1}, {"max_new_tokens": 0}], ids=str)
def test_a_wrong_way_of_asking_is_refused(changes: dict):
    with pytest.raises(ConfigError, match="raise them"):
        Answering(**changes)


def test_a_folder_without_a_model_and_a_plan_without_questions_are_refused(plan: HotpotPlan, tmp_path: Path):
    with pytest.raises(InputError, match="holds no config"):
        gather(replace(plan, folders=(tmp_path / "absent",)))
    with pytest.raises(ConfigError, match="name each of them once"):
        gather(replace(plan, folders=plan.folders[:1] * 2))
    short = [entry | {"context": entry["context"][:9]} for entry in entries() if not lost(entry)]
    few = write_hotpot(tmp_path / "few.json", short)
    with pytest.raises(ConfigError, match=r"No question of .* is left that is no example and has 10 paragraphs"):
        gather(replace(plan, data=few, paragraphs=(10,)))


def lost(entry: dict) -> bool:
    """Whether the tenth paragraph holds a fact."""
    return entry["context"][9][0] in {title for title, _ in entry["supporting_facts"]}


def test_examples_find_what_the_engine_finds():
    searching = engine_searching()
    text = "Altvik: Altvik is a town. It snowed!\n\nAda Berg: Ada Berg lives in Altvik"
    assert searching.find(text, Sentence("Altvik")) == "Altvik: Altvik is a town."
    assert searching.find(text, Sentence("Berg")) == "Ada Berg: Ada Berg lives in Altvik"
    assert searching.find(text, Sentence("Zed")) is None
    assert searching.spell(Ask(Sentence("Zed"), None)) == "<search>sentence with Zed</search><nothing>"
    assert re.fullmatch("<search>.*</search><found>x</found>", searching.spell(Ask(Sentence("Zed"), "x")))


def test_the_hash_of_a_file_is_that_of_its_contents(tmp_path: Path):
    (tmp_path / "a").write_text("same")
    (tmp_path / "b").write_text("same")
    (tmp_path / "c").write_text("other")
    assert file_hash(tmp_path / "a") == file_hash(tmp_path / "b") != file_hash(tmp_path / "c")
