from pathlib import Path

import pytest
import yaml

from recherche.errors import ConfigError
from recherche.lm.harness_documents import FOLDER, Draw, documents, graded, task_file
from recherche.lm.token_length import length_in
from recherche.texts import TEXT_TASKS, examples
from tests.lm.tokenizers import tiny_tokenizer


class Reader(yaml.SafeLoader):
    """Reads lm-eval's names of functions as text."""


Reader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def read(name: str) -> dict:
    """A task's file with what it includes."""
    written = yaml.load(task_file(name).read_text(), Loader=Reader)
    included = yaml.load((FOLDER / written.pop("include", task_file(name).name)).read_text(), Loader=Reader)
    return included | written


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_every_text_task_has_its_file(name: str) -> None:
    config = read(name)
    assert config["task"] == f"recherche_{name}"
    assert config["metadata"]["text_task"] == name
    assert config["custom_dataset"] == "recherche.lm.harness.documents"
    assert config["generation_kwargs"]["until"] == ["\n"]


def test_every_file_is_of_a_text_task() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {task_file(name).name for name in TEXT_TASKS}


def test_documents_are_the_examples_of_a_seed() -> None:
    data = documents(text_task="variables", n=9, num=3, seed=4, options={"hops": 1}, pretrained="gone", search=True)
    drawn = list(examples(TEXT_TASKS["variables"](n=9, hops=1), 3, seed=4))
    assert [row["prompt"] for row in data["test"]] == [example.prompt for example in drawn]
    assert [row["answers"] for row in data["test"]] == [list(example.answers) for example in drawn]
    assert [row["target"] for row in data["test"]] == [example.target for example in drawn]


def test_a_hundred_documents_at_the_tasks_own_size_are_usual() -> None:
    data = documents(text_task="mqar", version=1.0)["test"]
    assert len(data) == 100
    assert {row["n"] for row in data} == {TEXT_TASKS["mqar"].n}


def test_a_length_in_tokens_is_counted_by_the_models_tokenizer(tmp_path: Path) -> None:
    tiny_tokenizer("byte-level").save_pretrained(tmp_path)
    length = length_in(tmp_path)
    for row in documents(text_task="needle", tokens=500, num=3, pretrained=str(tmp_path))["test"]:
        assert 450 < length(row["prompt"] + row["target"]) <= 500


@pytest.mark.parametrize(("written", "value"), [(" 9, 8", 1.0), ("8", 0.0)])
def test_answers_are_graded(written: str, value: float) -> None:
    assert graded({"answers": ["8", "9"]}, [written]) == {"exact_match": value}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"text_task": "phonbook"}, "no text task 'phonbook'; did you mean phonebook"),
        ({"text_task": "phonebook", "tokens": 100}, "needs a tokenizer and no n, got the tokenizer None"),
        ({"text_task": "phonebook", "tokens": 100, "tokenizer": "x", "n": 5}, "and n = 5"),
        ({"text_task": "phonebook", "tokens": 100, "tokenizer": "gone"}, "There is no folder gone"),
        ({"text_task": "phonebook", "options": {"hops": 1}}, "has no options, got 'hops'"),
        ({"text_task": "phonebook", "num": 0}, "at least one example, got 0"),
    ],
)
def test_bad_settings_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Draw(**settings).records()


def test_a_task_without_a_file_is_refused() -> None:
    with pytest.raises(ConfigError, match="no text task 'phone'"):
        task_file("phone")
