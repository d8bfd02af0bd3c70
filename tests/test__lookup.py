import os
import sys
from abc import ABC, abstractmethod
from types import MappingProxyType

import pytest

from recherche._lookup import IMPORT_VARIABLE, Registry, allow_import, allow_own, import_allowed, lookup
from recherche.errors import ConfigError

TABLE = MappingProxyType({"mamba": 1, "transformer": 2, "hybrid": 3})


@pytest.mark.parametrize("name", TABLE)
def test_a_known_name_gives_its_member(name: str):
    assert lookup(TABLE, name, what="architecture") == TABLE[name]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        pytest.param("mambo", "did you mean mamba?", id="misspelt"),
        pytest.param("transfomer", "did you mean transformer?", id="letter missing"),
        pytest.param("Hybrid", "did you mean hybrid?", id="capital"),
    ],
)
def test_a_near_miss_is_answered_with_the_nearest_name(name: str, hint: str):
    with pytest.raises(ConfigError) as refusal:
        lookup(TABLE, name, what="architecture")
    assert hint in str(refusal.value)


def test_an_unknown_name_is_answered_with_all_names_and_no_guess():
    with pytest.raises(
        ConfigError, match=r"no architecture 'xyz'; Choose from: mamba, transformer, hybrid\."
    ) as refusal:
        lookup(TABLE, "xyz", what="architecture")
    assert "did you mean" not in str(refusal.value)


class Animal(ABC):
    @abstractmethod
    def sound(self) -> str:
        """What it says."""


class Cat(Animal):
    def sound(self) -> str:
        return "miaow"


ANIMALS: Registry[Animal] = Registry(
    [Animal, Cat, "a cat", ABC], Animal, key=lambda member: member.__name__.lower(), what="animal"
)
OWN_FILE = """
from tests.test__lookup import Animal, Cat

class Dog(Animal):
    def sound(self):
        return "woof"
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder of one's own with a module `own_animals`, of which nothing is known yet."""
    (tmp_path / "own_animals.py").write_text(OWN_FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv(IMPORT_VARIABLE, "")
    yield "own_animals:Dog"
    sys.modules.pop("own_animals", None)


def test_a_registry_holds_the_concrete_classes_of_its_kind():
    assert dict(ANIMALS) == {"cat": Cat}
    assert (len(ANIMALS), lookup(ANIMALS, "cat", what="animal")) == (1, Cat)
    with pytest.raises(ConfigError, match="There is no animal 'cot'; did you mean cat"):
        lookup(ANIMALS, "cot", what="animal")


def test_a_name_in_a_file_imports_nothing(own):
    with pytest.raises(ConfigError, match=r"imports nothing by itself; .* recherche --import own_animals"):
        lookup(ANIMALS, own, what="animal")
    assert "own_animals" not in sys.modules


def test_a_module_that_the_user_names_is_imported_from_the_folder_he_works_in(own):
    assert allow_own(own) == own
    assert lookup(ANIMALS, own, what="animal")().sound() == "woof"
    assert own not in list(ANIMALS)


def test_a_module_that_was_imported_is_found(own):
    import_allowed("own_animals")
    assert ANIMALS[own].__name__ == "Dog"


def test_names_of_the_package_need_no_leave(own, monkeypatch):
    allow_own("cat")
    assert ANIMALS["cat"] is Cat
    allow_import("own_animals")
    allow_import("own_animals")
    assert os.environ[IMPORT_VARIABLE] == "own_animals"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("own_animals:Cow", "must be a subclass of Animal without abstract methods, found no such name"),
        ("own_animals:Animal", "without abstract methods, found <class"),
        ("os:path", "must be a subclass of Animal"),
        ("no_such_module:Dog", "cannot be imported: No module named 'no_such_module'; run from the folder"),
        (":Dog", "is written package.module:Class, got ':Dog'"),
        ("own_animals:", "is written package.module:Class, got 'own_animals:'"),
    ],
)
def test_a_path_to_no_such_class_is_refused(own, path, message):
    with pytest.raises(ConfigError, match=message):
        lookup(ANIMALS, allow_own(path), what="animal")


def test_a_file_that_is_no_python_is_refused(own, tmp_path):
    (tmp_path / "own_animals.py").write_text("class Dog(:")
    with pytest.raises(ConfigError, match="'own_animals:Dog' cannot be imported: invalid syntax"):
        lookup(ANIMALS, allow_own(own), what="animal")
