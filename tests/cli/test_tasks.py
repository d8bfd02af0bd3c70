import json

import pytest
import typer
from typer.testing import CliRunner

from recherche.cli.tasks import sample, score, settings_of
from recherche.errors import ConfigError, InputError
from recherche.tasks import IsTree

ANSWERS = 8


def run(command, *words: str) -> str:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def sampled(*words: str) -> list[dict]:
    return [json.loads(line) for line in run(sample, "istree", *words, "--format", "jsonl").splitlines()]


def test_jsonl_has_what_a_model_sees_and_must_write():
    lines = sampled("--n-nodes", "8", "--protocol", "retrieval", "--num", "3", "--seed", "1")
    assert [line["id"] for line in lines] == [0, 1, 2]
    for line in lines:
        assert set(line) == {"id", "prompt", "target", "loss_mask", "edges", "answer"}
        assert line["prompt"] == ["<s>", *" ".join(f"{u} ~ {v}" for u, v in line["edges"]).split(), "<d>"]
        assert len(line["target"]) == len(line["loss_mask"])
        assert line["target"][-1] == line["answer"]
        after_search = [a == "<EndSearch>" for a in ["", *line["target"][:-1]]]
        assert line["loss_mask"] == [int(not found) for found in after_search]


def test_text_and_tokens_are_the_same_examples():
    words = ("istree", "--n", "5", "--num", "2", "--protocol", "cot", "--format")
    vocab = IsTree(n_nodes=5).vocab
    for text, ids in zip(
        run(sample, *words, "text").splitlines(), run(sample, *words, "tokens").splitlines(), strict=True
    ):
        assert vocab.encode(text.split(" ")).tolist() == [int(i) for i in ids.split(" ")]


def test_the_seed_and_the_kind_choose_the_graphs():
    assert sampled("--seed", "1") == sampled("--seed", "1")
    assert sampled("--seed", "1") != sampled("--seed", "2")
    assert {line["answer"] for line in sampled("--kind", "trees")} == {"YES"}
    assert {line["answer"] for line in sampled("--option", "graphs=trees")} == {"YES"}


def written(tmp_path, answers: dict[int, str]):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps({"id": i, "answer": answer}) + "\n" for i, answer in answers.items()))
    return str(path)


@pytest.mark.parametrize("spoiled", [0, 3])
def test_accuracy_counts_right_answers(tmp_path, spoiled):
    truth = {line["id"]: line["answer"] for line in sampled("--num", str(ANSWERS))}
    answers = truth | {i: "MAYBE" for i in range(spoiled)}
    got = json.loads(run(score, "istree", written(tmp_path, answers), "--num", str(ANSWERS), "--json"))
    assert got["accuracy"] == (ANSWERS - spoiled) / ANSWERS
    assert 0 <= got["accuracy_low"] <= got["accuracy"] <= got["accuracy_high"] <= 1
    assert got["num_missing"] == 0


def test_a_missing_answer_counts_half(tmp_path):
    [first, *_] = sampled("--num", str(ANSWERS))
    text = run(score, "istree", written(tmp_path, {first["id"]: first["answer"]}), "--num", str(ANSWERS))
    assert text.startswith(f"accuracy {(1 + (ANSWERS - 1) / 2) / ANSWERS:.4f} [")
    assert "on 8 examples, 7 missing (half each)" in text


def test_no_answer_at_all_is_no_accuracy(tmp_path):
    with pytest.raises(InputError, match="holds no answer, so there is nothing to score"):
        run(score, "istree", written(tmp_path, {}), "--num", str(ANSWERS))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 8, "answer": "YES"}', r"answers.jsonl, line 2: ids run from 0 to 7, got 8; give --num and --seed"),
        ('{"id": 0, "answer": "YES"}', r"line 2: id 0 is answered twice"),
        ('{"id": 1}', r'line 2: expected {"id": 0, "answer": "..."}, got \'{"id": 1}\''),
        ("YES", r"line 2: expected .* got 'YES'"),
    ],
    ids=["outside", "twice", "no answer", "no JSON"],
)
def test_a_bad_prediction_is_named(tmp_path, line, message):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": 0, "answer": "YES"}\n\n'.replace("\n\n", "\n") + line + "\n\n")
    with pytest.raises(InputError, match=message):
        run(score, "istree", str(path), "--num", str(ANSWERS))


def test_absent_predictions_are_named(tmp_path):
    with pytest.raises(InputError, match=r"Cannot read the predictions .*absent"):
        run(score, "istree", str(tmp_path / "absent"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("istre",), "no task 'istre'; did you mean istree"),
        (("istree", "--protocol", "cott"), "no protocol of istree 'cott'; did you mean cot"),
        (("istree", "--format", "json"), "no format 'json'; did you mean jsonl"),
        (("istree", "--num", "0"), "at least one example, got --num 0"),
        (("istree", "--n", "3"), "need at least 4 vertices, got 3"),
        (("istree", "--kind", "hrd"), "no kind of graphs 'hrd'; did you mean hard"),
        (("istree", "--option", "graph=near"), "no option of istree 'graph'; did you mean graphs"),
        (("istree", "--option", "graphs"), "written NAME=VALUE, got 'graphs'"),
    ],
)
def test_a_wrong_word_is_answered_with_near_ones(words, message):
    with pytest.raises(ConfigError, match=message):
        run(sample, *words)


def test_numbers_among_options_are_numbers():
    assert settings_of(None, ["a=-3", "b=x", "c=1"]) == {"a": -3, "b": "x", "c": 1}
