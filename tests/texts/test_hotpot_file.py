import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recherche.errors import InputError
from recherche.texts.hotpot_file import read_hotpot
from tests.texts.made_up_hotpot import entries, write_hotpot


def change(edit: Callable[[list[dict[str, Any]]], object]) -> str:
    """The text of a file whose entries were edited."""
    made = entries()
    edited = edit(made)
    return json.dumps(made if edited is None else edited)


def only_facts(entry: dict[str, Any]) -> dict[str, Any]:
    titles = {title for title, _ in entry["supporting_facts"]}
    return entry | {"context": [pair for pair in entry["context"] if pair[0] in titles]}


def without_answers(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in ("answer", "supporting_facts")}


def another_library(entry: dict[str, Any]) -> dict[str, Any]:
    titles, sentences = zip(*entry["context"], strict=True)
    return entry | {"context": {"title": titles, "sentences": sentences}}


def test_every_question_is_read_with_its_facts(tmp_path: Path):
    made = entries()
    questions = read_hotpot(write_hotpot(tmp_path / "dev.json", made))
    assert [question.id for question in questions] == [entry["_id"] for entry in made]
    for question, entry in zip(questions, made, strict=True):
        assert (question.question, question.answer, question.kind) == (
            entry["question"],
            entry["answer"],
            entry["type"],
        )
        assert [paragraph.title for paragraph in question.paragraphs] == [title for title, _ in entry["context"]]
        told = [(question.paragraphs[i].title, at) for i, at in question.facts]
        assert told == [tuple(fact) for fact in entry["supporting_facts"]]
        assert sorted(question.supporting + question.distractors) == list(range(10))
        assert len(question.supporting) == 2
        for paragraph, (_, sentences) in zip(question.paragraphs, entry["context"], strict=True):
            assert paragraph.text == "".join(sentences)


def test_line_breaks_and_sentences_without_a_space_between_them_become_spaces(tmp_path: Path):
    made = entries()
    made[0]["context"][0][1] = ["One\nline.", "Another\u00a0 one.", " And more."]
    [first, *_] = read_hotpot(write_hotpot(tmp_path / "dev.json", made))
    assert first.paragraphs[0].text == "One line. Another one. And more."


def test_a_fact_that_does_not_exist_is_left_out(tmp_path: Path):
    made = entries()
    made[0]["supporting_facts"].append([made[0]["supporting_facts"][0][0], 9])
    [first, *_] = read_hotpot(write_hotpot(tmp_path / "dev.json", made))
    assert len(first.facts) == 2


def test_one_question_in_a_hundred_may_lack_its_facts(tmp_path: Path):
    made = [entry | {"_id": f"{i}-{entry['_id']}"} for i in range(5) for entry in entries()]
    made[7]["supporting_facts"][0][0] = "Nowhere"
    assert len(read_hotpot(write_hotpot(tmp_path / "dev.json", made))) == 5 * 24 - 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(change(lambda made: None)[:-300], "is cut short: its .* characters end before", id="truncated"),
        pytest.param("<html>404</html>", "it is not JSON", id="an error page"),
        pytest.param("", "it is not JSON", id="empty"),
        pytest.param('{"_id": 1}\n{"_id": 2}\n', "something follows its first JSON value, in line 2", id="lines"),
        pytest.param('{"answer": {}, "sp": {}}', "one object with 'answer', 'sp' instead of a list", id="predictions"),
        pytest.param("[]", "an empty list", id="no question"),
        pytest.param("[" * 100_000, "nested too deeply|cut short", id="nested"),
        pytest.param(change(lambda made: [*made, 7]), "entry 25 is a single int", id="a number for a question"),
        pytest.param(
            change(lambda made: list(map(without_answers, made))), "the test questions have no answers", id="test set"
        ),
        pytest.param(
            change(lambda made: [{"id": e.pop("_id")} | e for e in made]),
            "entry 1 has no '_id', only id, question",
            id="another name for a field",
        ),
        pytest.param(change(lambda made: list(map(another_library, made))), "a table with columns", id="columns"),
        pytest.param(change(lambda made: made[3].update(answer=None)), "'answer' of entry 4 is None", id="no answer"),
        pytest.param(
            change(lambda made: made[2].update(context=[["title", "text"]])), "'context' of entry 3", id="no sentences"
        ),
        pytest.param(
            change(lambda made: made[2].update(supporting_facts=[["title", "0"]])),
            "'supporting_facts' of entry 3",
            id="no number of a sentence",
        ),
        pytest.param(
            change(lambda made: [e["context"].pop(0) and e for e in made]), "as in the fullwiki setting", id="fullwiki"
        ),
        pytest.param(
            change(lambda made: list(map(only_facts, made))), "no paragraph beside the two", id="no distractors"
        ),
        pytest.param(change(lambda made: [*made, made[0]]), "a question stands in it twice", id="twice"),
    ],
)
def test_another_file_is_refused_in_one_sentence(text: str, message: str, tmp_path: Path):
    path = tmp_path / "questions.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as refused:
        read_hotpot(path)
    assert str(path) in str(refused.value)
    assert "hotpot_dev_distractor_v1.json" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="No such file"):
        read_hotpot(tmp_path / "absent.json")
    with pytest.raises(InputError, match="Is a directory"):
        read_hotpot(tmp_path)
    (tmp_path / "zipped.json").write_bytes(b"\x1f\x8b\x08\xff")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_hotpot(tmp_path / "zipped.json")
