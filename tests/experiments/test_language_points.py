from dataclasses import replace
from pathlib import Path

import pytest

from recherche.errors import ConfigError, InputError
from recherche.experiments.language_points import (
    LanguagePoint,
    Sampling,
    distinct_labels,
    expected_work,
    fingerprint_of,
    make_points,
    matching_points,
)
from tests.experiments.pretend_subject import pretend_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return pretend_folder(tmp_path / "mine")


def made(*folders: Path, tasks=("phonebook",), sizes=(10, 3), protocols=("direct", "search"), sampling=None):
    return make_points(folders, tasks=tasks, sizes=sizes, protocols=protocols, sampling=sampling or Sampling(num=5))


def test_points_go_from_short_texts_to_long_ones_with_both_protocols_of_each(folder: Path):
    assert list(made(folder)) == [
        "mine-phonebook-direct-n3",
        "mine-phonebook-search-n3",
        "mine-phonebook-direct-n10",
        "mine-phonebook-search-n10",
    ]


def test_all_protocols_and_models_are_asked_the_same_texts(folder: Path, tmp_path: Path):
    points = made(folder, pretend_folder(tmp_path / "other"), sizes=(3,)).values()
    assert len({tuple(point.text_keys) for point in points}) == 1
    assert len({point.hash for point in points}) == 2  # the same files: only the protocol differs
    first = next(iter(points))
    assert len(set(first.text_keys)) == 5
    assert replace(first, n=4).text_keys != first.text_keys


def test_more_texts_begin_with_the_same_ones(folder: Path):
    few, many = (next(iter(made(folder, sampling=Sampling(num=num)).values())) for num in (5, 9))
    assert many.text_keys[:5] == few.text_keys


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        pytest.param({"n": 11}, False, id="n"),
        pytest.param({"task": "keyvalue"}, False, id="task"),
        pytest.param({"protocol": "search"}, False, id="protocol"),
        pytest.param({"fingerprint": "other"}, False, id="files of the model"),
        pytest.param({"sampling": Sampling(num=6)}, False, id="number of texts"),
        pytest.param({"sampling": Sampling(num=5, seed=1)}, False, id="seed"),
        pytest.param({"sampling": Sampling(num=5, dtype="bfloat16")}, False, id="number type"),
        pytest.param({"folder": Path("elsewhere")}, True, id="place"),
        pytest.param({"label": "renamed"}, True, id="name"),
    ],
)
def test_the_hash_covers_what_changes_numbers_and_not_where_it_lies(folder: Path, changes, same):
    point = made(folder)["mine-phonebook-direct-n10"]
    assert (replace(point, **changes).hash == point.hash) is same


@pytest.mark.parametrize(
    ("name", "counts"),
    [("model.safetensors", True), ("config.json", True), ("tokenizer.json", True), ("README.md", False)],
)
def test_the_fingerprint_covers_model_and_tokenizer(folder: Path, name: str, counts: bool):
    before = fingerprint_of(folder)
    (folder / name).write_bytes(b"changed")
    assert (fingerprint_of(folder) != before) is counts


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        pytest.param(["/a/mamba", "/b/llama"], ["mamba", "llama"], id="names are enough"),
        pytest.param(["/a/x/mamba", "/b/x/mamba"], ["a-x-mamba", "b-x-mamba"], id="with parents"),
    ],
)
def test_labels_tell_folders_apart(paths, labels):
    assert distinct_labels([Path(path) for path in paths]) == labels


def test_a_folder_named_twice_is_refused():
    with pytest.raises(ConfigError, match="measured once"):
        distinct_labels([Path("a"), Path("./a")])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"tasks": ("phonebok",)}, "did you mean phonebook", id="task"),
        pytest.param({"protocols": ("searching",)}, "no protocol 'searching'", id="protocol"),
        pytest.param({"sizes": ()}, "every n >= 1", id="no n"),
        pytest.param({"sizes": (0,)}, "every n >= 1", id="n of nothing"),
        pytest.param({"tasks": ()}, "name what is missing", id="no task"),
        pytest.param({"sampling": Sampling(num=0)}, "0 texts", id="no text"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_runs(folder: Path, changes, message):
    with pytest.raises(ConfigError, match=message):
        made(folder, **changes)


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"holds no config.json"):
        made(tmp_path)


def test_a_part_can_be_chosen(folder: Path):
    assert list(matching_points(made(folder), "search-n3")) == ["mine-phonebook-search-n3"]
    with pytest.raises(ConfigError, match="matches 'gru'"):
        matching_points(made(folder), "gru")


def test_long_texts_many_texts_and_large_models_are_more_work(folder: Path, tmp_path: Path):
    small = made(folder)["mine-phonebook-direct-n10"]
    large = pretend_folder(tmp_path / "large", b"weights" * 10)
    assert expected_work(replace(small, n=100)) > expected_work(small)
    assert expected_work(replace(small, sampling=Sampling(num=50))) == 10 * expected_work(small)
    assert expected_work(replace(small, folder=large)) == 10 * expected_work(small)
    assert expected_work(replace(small, n=10**9)) > 0  # refused later, by name


def test_a_point_builds_its_task(folder: Path):
    point: LanguagePoint = made(folder)["mine-phonebook-direct-n10"]
    assert (point.build().name, point.build().n) == ("phonebook", 10)
