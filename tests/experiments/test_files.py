import pytest

from recherche.errors import InputError
from recherche.experiments.files import (
    append_json_line,
    read_json,
    read_json_lines,
    write_json,
    write_json_lines,
    write_text,
)


def test_what_is_written_is_read(tmp_path):
    write_json(tmp_path / "a" / "x.json", {"n": [1, None, "é"]})
    write_json_lines(tmp_path / "x.jsonl", [1, {"a": 2}])
    append_json_line(tmp_path / "x.jsonl", 3)
    assert read_json(tmp_path / "a" / "x.json") == {"n": [1, None, "é"]}
    assert read_json_lines(tmp_path / "x.jsonl") == [1, {"a": 2}, 3]


def test_a_last_line_cut_short_is_dropped(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n{"a": ')
    assert read_json_lines(tmp_path / "x.jsonl") == [{"a": 1}]


def test_a_damaged_line_in_the_middle_is_named(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": \n{"a": 1}\n')
    with pytest.raises(InputError, match=r"Line 1 of .*x.jsonl is not JSON"):
        read_json_lines(tmp_path / "x.jsonl")


def test_no_file_has_no_rows_but_is_no_value(tmp_path):
    assert read_json_lines(tmp_path / "none.jsonl") == []
    with pytest.raises(InputError, match=r"There is no file .*none.json"):
        read_json(tmp_path / "none.json")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    write_text(tmp_path / "x", "old")
    with pytest.raises(TypeError):
        write_json(tmp_path / "x", object())
    assert (tmp_path / "x").read_text() == "old"
