import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from recherche.cli.text import text
from recherche.errors import ConfigError, InputError
from recherche.lm.harness_documents import task_file
from recherche.texts import TEXT_TASKS
from tests.lm.tokenizers import tiny_tokenizer

ANSWERS = 6


def run(*words: str) -> str:
    result = CliRunner().invoke(text, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def sampled(task: str, *words: str) -> list[dict]:
    return [json.loads(line) for line in run("sample", task, *words, "--format", "jsonl").splitlines()]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory) -> Path:
    """A folder with a tokenizer."""
    folder = tmp_path_factory.mktemp("tokenizer")
    tiny_tokenizer("byte-level").save_pretrained(folder)
    return folder


@pytest.mark.parametrize("protocol", ["direct", "search"])
@pytest.mark.parametrize("task", TEXT_TASKS)
def test_jsonl_has_what_a_model_reads_and_writes(task: str, protocol: str):
    lines = sampled(task, "--n", "20", "--num", "2", "--protocol", protocol, "--seed", "3")
    assert [line["id"] for line in lines] == [0, 1]
    for line in lines:
        assert {line["task"], line["n"]} == {task, 20}
        assert line["prompt"].endswith("\nAnswer:")
        assert line["target"].endswith(f" {', '.join(line['answers'])}\n")
        assert ("trace" in line) == (protocol == "search")


def test_a_search_is_written_with_its_markers():
    [line] = sampled("counting", "--n", "1", "--num", "1", "--option", "most=1", "--protocol", "search", "--seed", "1")
    asks = [part for part in line["trace"] if "ask" in part]
    written = "".join(
        f"<search>{ask['ask']}</search>" + (f"<found>{ask['found']}</found>" if ask["found"] else "<nothing>")
        for ask in asks
    )
    assert line["target"] == f"{written} {line['answers'][0]}\n"
    assert asks[-1]["found"] is None


def test_text_is_prompt_and_target():
    lines = sampled("needle", "--num", "2", "--protocol", "search")
    assert run("sample", "needle", "--num", "2", "--protocol", "search") == "".join(
        line["prompt"] + line["target"] + "\n" for line in lines
    )


def test_the_seed_chooses_the_examples():
    assert sampled("phonebook", "--seed", "1") == sampled("phonebook", "--seed", "1")
    assert sampled("phonebook", "--seed", "1") != sampled("phonebook", "--seed", "2")


@pytest.mark.parametrize("tokens", [400, 1500])
@pytest.mark.parametrize("task", ["phonebook", "needle", "variables"])
def test_a_text_has_a_length_in_tokens(tokenizer: Path, task: str, tokens: int):
    count = tiny_tokenizer("byte-level")
    for line in sampled(task, "--tokens", str(tokens), "--tokenizer", str(tokenizer), "--num", "2"):
        length = len(count(line["prompt"] + line["target"])["input_ids"])
        assert tokens - 40 < length <= tokens


def test_prose_is_the_users_own(tmp_path: Path):
    path = tmp_path / "own.txt"
    path.write_text("We sat by the fire. " * 50, encoding="utf-8")
    [line] = sampled("needle", "--prose", str(path), "--num", "1")
    assert "We sat by the fire. We sat" in line["prompt"]


def written(folder: Path, answers: dict[int, str]) -> str:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps({"id": i, "answer": answer}) + "\n" for i, answer in answers.items()))
    return str(path)


def truth(task: str, *words: str) -> dict[int, str]:
    return {line["id"]: ", ".join(line["answers"]) for line in sampled(task, "--num", str(ANSWERS), *words)}


@pytest.mark.parametrize("spoiled", [0, 2])
def test_accuracy_counts_right_answers(tmp_path: Path, spoiled: int):
    answers = truth("needle_multivalue", "--n", "50") | {i: "MAYBE" for i in range(spoiled)}
    words = ("score", "needle_multivalue", written(tmp_path, answers), "--n", "50", "--num", str(ANSWERS), "--json")
    got = json.loads(run(*words))
    assert got["accuracy"] == (ANSWERS - spoiled) / ANSWERS
    assert 0 <= got["accuracy_low"] <= got["accuracy"] <= got["accuracy_high"] <= 1
    assert (got["n"], got["num_missing"]) == (50, 0)


def test_answers_to_texts_of_a_length_are_graded(tmp_path: Path, tokenizer: Path):
    size = ("--tokens", "500", "--tokenizer", str(tokenizer))
    words = ("score", "phonebook", written(tmp_path, truth("phonebook", *size)), *size, "--num", str(ANSWERS), "--json")
    got = json.loads(run(*words))
    assert (got["accuracy"], got["tokens"]) == (1, 500)
    assert "n" not in got


def test_a_missing_answer_is_wrong(tmp_path: Path):
    answers = {0: truth("phonebook")[0]}
    said = run("score", "phonebook", written(tmp_path, answers), "--num", str(ANSWERS))
    assert said.startswith("accuracy 0.1667 [")
    assert said.endswith("on 6 examples, 5 without an answer (wrong)\n")


def test_no_answer_at_all_is_an_error(tmp_path: Path):
    with pytest.raises(InputError, match=r"answers\.jsonl holds no answer"):
        run("score", "phonebook", written(tmp_path, {}))
    with pytest.raises(InputError, match="ids run from 0 to 4, got 9"):
        run("score", "phonebook", written(tmp_path, {9: "1"}))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["phonbook"], "There is no text task 'phonbook'; did you mean phonebook"),
        (["phonebook", "--n", "0"], "takes n from 1 to 100000, got n = 0 people"),
        (["phonebook", "--n", "2000000"], "takes n from 1 to 100000, got n = 2000000 people"),
        (["mqar", "--n", "12001"], "takes n from 4 to 12000, got n = 12001 pairs"),
        (["phonebook", "--num", "0"], "at least one example, got 0"),
        (["phonebook", "--protocol", "cot"], "There is no protocol 'cot'"),
        (["phonebook", "--format", "yaml"], "There is no format 'yaml'"),
        (["phonebook", "--option", "hops=2"], "has no options, got 'hops'"),
        (["phonebook", "--prose", "x.txt"], "has no options, got 'prose'"),
        (["variables", "--option", "hop=2"], "no option of variables 'hop'; did you mean hops"),
        (["variables", "--option", "hops"], "written NAME=VALUE, got 'hops'"),
        (["needle", "--prose", "gone.txt"], "Cannot read the prose gone"),
        (["needle", "--tokens", "100"], "name its folder by --tokenizer"),
        (["needle", "--tokenizer", "x"], "no --tokens was given"),
        (["needle", "--tokens", "9", "--n", "9", "--tokenizer", "x"], "got --n 9 and --tokens 9"),
        (["needle", "--tokens", "9", "--tokenizer", "gone"], "There is no folder gone"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_refused(words: list[str], message: str):
    with pytest.raises((ConfigError, InputError), match=message):
        run("sample", *words)


def test_a_folder_without_a_tokenizer_and_too_few_tokens_are_refused(tmp_path: Path, tokenizer: Path):
    with pytest.raises(ConfigError, match="holds no tokenizer that can be read"):
        run("sample", "needle", "--tokens", "100", "--tokenizer", str(tmp_path))
    with pytest.raises(ConfigError, match=r"The shortest example of needle has \d+ tokens, got 10 tokens"):
        run("sample", "needle", "--tokens", "10", "--tokenizer", str(tokenizer))


def test_the_files_of_lm_evaluation_harness_are_named():
    assert run("harness", "phonebook", "needle").strip().split(",") == [
        str(task_file("phonebook")), str(task_file("needle"))
    ]  # fmt: skip
    assert len(run("harness").split(",")) == len(TEXT_TASKS)
    with pytest.raises(ConfigError, match="no text task 'phone'"):
        run("harness", "phone")


def test_it_is_a_group_of_commands():
    assert isinstance(text, typer.Typer)
    assert {"sample", "score", "harness"} <= {command.callback.__name__ for command in text.registered_commands}
