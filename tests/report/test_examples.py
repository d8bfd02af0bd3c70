import json
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report.examples import read_examples

ROW = {
    "edges": [[1, 2]],
    "prompt": ["<s>", "1", "~", "2", "<d>"],
    "generated": ["1", "2", "1", "YES"],
    "retrieved": [0, 0, 0, 0],
    "searches": [],
    "answer": "YES",
    "truth": "YES",
}


def write(folder: Path, *rows: object) -> Path:
    (folder / "examples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_cell_without_examples_has_none(tmp_path: Path):
    assert read_examples(tmp_path) == []


def test_context_is_prompt_and_trace(tmp_path: Path):
    (example,) = read_examples(write(tmp_path, ROW))
    assert " ".join(example.context) == "<s> 1 ~ 2 <d> 1 2 1 YES"
    assert example.right


def test_no_answer_is_not_right(tmp_path: Path):
    (example,) = read_examples(write(tmp_path, ROW | {"answer": None}))
    assert not example.right


def test_the_examples_of_a_run_are_read(quick_run: Path):
    (first, *_) = read_examples(quick_run / "cells" / "mamba-retrieval-n16")
    assert first.searches[0].query == "1 ~"
    assert first.context[first.searches[0].span[0]] == first.searches[0].result[0]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        pytest.param({"edges": [[1, 2, 3]]}, r"edges\.0", id="an edge with three ends"),
        pytest.param({"searches": [{"position": 0}]}, r"searches\.0\.query", id="a search without a query"),
        pytest.param({"truth": None}, "truth", id="no truth"),
    ],
)
def test_a_line_that_is_no_example_is_named(tmp_path: Path, change: dict, place: str):
    with pytest.raises(InputError, match=rf"Line 2 of .* is not an example \({place}"):
        read_examples(write(tmp_path, ROW, ROW | change))
