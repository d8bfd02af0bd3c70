import pytest

from recherche.errors import ConfigError
from recherche.texts import TEXT_TASKS, AbstractTextTask
from recherche.texts.fitting import Length, fitted


def characters(text: str) -> int:
    return len(text)


def words(text: str) -> int:
    return len(text.split())


def cost(task: AbstractTextTask, key: int, length: Length) -> int:
    example = task.example(key)
    return length(example.prompt + example.target)


@pytest.mark.parametrize("length", [characters, words])
@pytest.mark.parametrize("tokens", [400, 3000])
@pytest.mark.parametrize("name", TEXT_TASKS)
def test_an_example_fits_and_the_next_size_does_not(name: str, tokens: int, length: Length):
    for key in range(3):
        task = fitted(TEXT_TASKS[name](), key, tokens=tokens, length=length)
        assert cost(task, key, length) <= tokens
        assert task.n == task.greatest or cost(task.at_size(task.n + 1), key, length) > tokens


@pytest.mark.parametrize("name", ["phonebook", "needle", "keyvalue"])
def test_little_room_is_left(name: str):
    task = fitted(TEXT_TASKS[name](), 1, tokens=20_000, length=characters)
    assert 20_000 - cost(task, 1, characters) < 100


def test_other_options_are_kept():
    assert fitted(TEXT_TASKS["variables"](hops=5), 1, tokens=500, length=characters).hops == 5


def test_few_texts_are_measured():
    sizes = []

    def counted(text: str) -> int:
        sizes.append(len(text))
        return len(text)

    fitted(TEXT_TASKS["phonebook"](), 1, tokens=50_000, length=counted)
    assert len(sizes) < 30
    assert max(sizes) < 200_000


def test_the_greatest_size_is_taken_where_it_fits():
    task = TEXT_TASKS["mqar"]()
    assert fitted(task, 1, tokens=10**9, length=lambda text: 1).n == task.largest


def test_prose_of_ones_own_ends_where_it_ends(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("We sat by the fire and told tales of old. " * 20, encoding="utf-8")
    assert fitted(TEXT_TASKS["copying"](n=1, prose=str(path)), 1, tokens=10**6, length=characters).n == 20


def test_too_few_tokens_are_refused():
    with pytest.raises(ConfigError, match=r"The shortest example of phonebook has \d+ tokens, got 20 tokens"):
        fitted(TEXT_TASKS["phonebook"](), 1, tokens=20, length=characters)
