import json
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report.text_samples import TextSample, read_samples, telling
from tests.report.made_up_texts import sample

RIGHT, WRONG = TextSample.model_validate(sample()), TextSample.model_validate(sample(right=False))


def test_answers_are_read_line_by_line_and_a_short_last_line_is_left_out(tmp_path: Path):
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(sample()) + "\n" + json.dumps(sample(right=False)) + '\n{"answers": ["5')
    assert read_samples(path) == [RIGHT, WRONG]
    assert read_samples(tmp_path / "none.jsonl") == []


def test_a_line_that_is_no_answer_is_refused(tmp_path: Path):
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(sample() | {"prompt": "text"}) + "\n{}\n")
    with pytest.raises(InputError, match=r"Line 1 of .* is not an answer: prompt"):
        read_samples(path)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param([RIGHT, RIGHT, WRONG], [RIGHT, WRONG], id="one of each"),
        pytest.param([WRONG, WRONG], [WRONG], id="only wrong ones"),
        pytest.param([], [], id="none"),
    ],
)
def test_a_right_and_a_wrong_answer_are_told(answers, expected):
    assert telling(answers) == expected
