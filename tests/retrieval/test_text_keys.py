from random import Random

import pytest

from recherche.retrieval import text_index, text_keys
from recherche.retrieval.charset import is_word
from recherche.retrieval.raw_text import RawText
from recherche.retrieval.text_index import TextIndex
from recherche.retrieval.text_keys import Key, KeyFinder
from tests.retrieval import fuzz

ALPHABETS = ("ab ", "ab1é ", "aé世 .", "abc")
BLOCKS = (16, 64, 1 << 15)


@pytest.fixture(params=BLOCKS)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Blocks and stretches so short that a small text has many of them; the last one leaves a text without index."""
    size = request.param
    for module in (text_index, text_keys):
        monkeypatch.setattr(module, "BLOCK", size)
    if size < BLOCKS[-1]:
        monkeypatch.setattr(text_index, "_FEWEST_BLOCKS", 1)
        monkeypatch.setattr(text_keys, "_PLACES_AT_ONCE", 1)
    monkeypatch.setattr(text_keys, "_FIRST_STRETCH", 7)
    monkeypatch.setattr(text_keys, "_MOST_ONE_BY_ONE", 3)
    return size


def random_text(random: Random) -> str:
    return "".join(random.choices(random.choice(ALPHABETS), k=random.randint(0, 200)))


def random_key(random: Random, text: str) -> str:
    begin = random.randint(0, len(text))
    return text[begin : begin + random.randint(1, 20)] or random.choice("ab é")


def places(text: str, key: str, *, whole: bool) -> list[int]:
    """The bytes at which the key stands, by looking at each character."""
    found = []
    for at in range(len(text) - len(key) + 1):
        before, after = text[at - 1 : at], text[at + len(key) : at + len(key) + 1]
        beside = (is_word(key[0]) and is_word(before)) or (is_word(key[-1]) and is_word(after))
        if text.startswith(key, at) and not (whole and beside):
            found.append(len(text[:at].encode()))
    return found


def wrong_places(random: Random, count: int) -> list[tuple[str, str]]:
    """Texts and keys for which a place is not the one of the definition, over texts that grow."""
    wrong = []
    for _ in range(count):
        raw, index, text = RawText(), TextIndex(), ""
        for _ in range(2):
            more = random_text(random)
            raw.extend(more)
            text += more
            finder, written, whole = KeyFinder(raw, index), random_key(random, text), random.random() < 0.5
            every = places(text, written, whole=whole)
            key = Key.whole(written) if whole else Key(written.encode())
            border = random.randint(0, len(raw.data))
            after = [at for at in every if at >= border]
            before = [at for at in every if at + len(key.data) <= border]
            pairs = [
                (finder.place(key, 1), every[:1]),
                (finder.place(key, 3), every[2:3]),
                (finder.place(key, "last"), every[-1:]),
                (finder.next(key, border), after[:1]),
                (finder.last(key, border), before[-1:]),
            ]
            if any(([] if got is None else [got]) != wanted for got, wanted in pairs):
                wrong.append((text, written))
    return wrong


@pytest.mark.usefixtures("block", "unchecked_types")
def test_a_key_is_found_where_it_stands():
    assert wrong_places(Random(1), 300) == []


@pytest.mark.slow
@pytest.mark.usefixtures("block", "unchecked_types")
def test_a_key_is_found_where_it_stands_at_length():
    assert wrong_places(Random(2), fuzz.number_of_comparisons() // 50) == []


def test_the_definition_can_see_a_difference():
    assert places("aa a", "a", whole=True) == [3]
    assert places("aa a", "a", whole=False) == [0, 1, 3]
    assert places("éa a", "a", whole=True) == [4]


def test_a_key_whose_hits_are_no_whole_words_is_looked_for_many_at_once():
    raw = RawText()
    raw.extend("be " * 50_000 + "e")
    assert KeyFinder(raw, TextIndex()).place(Key.whole("e"), 1) == 150_000


@pytest.mark.parametrize("key", ["the", "zz", "absent key", "of the", "e"])
def test_a_large_text_gives_the_places_that_find_gives(key: str):
    random = Random(3)
    words = ["".join(random.choices("theofz", k=random.randint(1, 5))) for _ in range(500)]
    text = " ".join(random.choices(words, k=120_000))
    raw = RawText()
    raw.extend(text)
    finder, found = KeyFinder(raw, TextIndex()), Key(key.encode())
    assert finder.place(found, 1) == (text.find(key) if key in text else None)
    assert finder.place(found, "last") == (text.rfind(key) if key in text else None)
