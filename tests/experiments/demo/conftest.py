import pytest

from recherche.experiments.demo import course
from tests.experiments.demo.tiny_demo import save_tokenizer, short_prose

pytest.importorskip("transformers")


@pytest.fixture(scope="session")
def tokenizer_folder(tmp_path_factory):
    return save_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture
def little_prose(monkeypatch):
    monkeypatch.setattr(course, "prose", short_prose)
