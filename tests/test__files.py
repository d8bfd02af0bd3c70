from pathlib import Path

import pytest

from recherche._files import replacing, replacing_folder, write_bytes, write_text


def test_a_file_is_replaced_when_it_is_complete(tmp_path: Path):
    path = tmp_path / "new folder" / "a.txt"
    write_text(path, "old")
    with replacing(path) as draft:
        draft.write_text("new", encoding="utf-8")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [*path.parent.iterdir()] == [path]


def fail_in_the_middle(path: Path) -> None:
    with replacing(path) as draft:
        draft.write_bytes(b"half")
        raise ZeroDivisionError


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path: Path):
    path = tmp_path / "a.bin"
    write_bytes(path, b"old")
    with pytest.raises(ZeroDivisionError):
        fail_in_the_middle(path)
    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]


def test_text_is_written_as_utf_8(tmp_path: Path):
    write_text(tmp_path / "a", "Gödel")
    assert (tmp_path / "a").read_bytes() == "Gödel".encode()


def test_a_folder_gets_its_files_when_all_are_complete(tmp_path: Path):
    folder = tmp_path / "new" / "folder"
    with replacing_folder(folder) as draft:
        (draft / "a").write_text("1")
        assert not folder.exists()
    (folder / "kept").write_text("2")
    with replacing_folder(folder) as draft:
        (draft / "a").write_text("3")
        assert (folder / "a").read_text() == "1"
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a": "3", "kept": "2"}
    assert [*folder.parent.iterdir()] == [folder]


def fail_in_a_folder(folder: Path) -> None:
    with replacing_folder(folder) as draft:
        (draft / "a").write_bytes(b"half")
        raise ZeroDivisionError


def test_a_failure_leaves_no_folder(tmp_path: Path):
    with pytest.raises(ZeroDivisionError):
        fail_in_a_folder(tmp_path / "folder")
    assert not [*tmp_path.iterdir()]
