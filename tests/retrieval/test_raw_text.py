from random import Random

import pytest

from recherche.errors import InputError
from recherche.retrieval.raw_text import RawText, encoded

LETTERS = "ab é世\n\U0001f600"


def random_stretch(random: Random) -> str:
    return "".join(random.choices(LETTERS, k=random.choice((0, 1, 5, 5, 3_000))))


@pytest.mark.parametrize("seed", range(6))
def test_places_are_those_of_the_whole_text(seed: int):
    random, raw, whole, visible = Random(seed), RawText(), "", list[int]()
    for _ in range(12):
        stretch = random_stretch(random)
        if random.random() < 0.3:
            raw.hide(stretch)
        else:
            raw.extend(stretch)
            visible.extend(range(len(whole), len(whole) + len(stretch)))
        whole += stretch
        raw = raw.fork() if random.random() < 0.2 else raw
    text = "".join(whole[place] for place in visible)
    assert raw.data.decode() == text
    assert raw.n_characters == len(whole)
    starts = [len(text[:place].encode()) for place in range(len(text) + 1)]
    for _ in range(200 if text else 0):
        begin = random.randrange(len(text))
        end = random.randint(begin + 1, min(len(text), begin + 50))
        first, past = visible[begin], visible[end - 1] + 1
        place = raw.place_of(starts[begin], starts[end])
        assert place.span == (first, past)
        assert place.byte_span == (len(whole[:first].encode()), len(whole[:past].encode()))
        assert (place.line, place.column) == (1 + whole[:first].count("\n"), first - whole.rfind("\n", 0, first))
        assert raw.cut(starts[begin], starts[end]) == text[begin:end]


def test_an_empty_stretch_stands_after_what_is_hidden_there():
    raw = RawText()
    raw.extend("a")
    raw.hide("??")
    raw.extend("b")
    assert raw.place_of(1, 1)[:2] == ((3, 3), (3, 3))
    assert (raw.place_of(0, 1).span, raw.place_of(1, 2).span, raw.place_of(0, 2).span) == ((0, 1), (3, 4), (0, 4))


def test_the_alphabet_is_what_occurs_beyond_ascii():
    raw = RawText()
    raw.extend("abc")
    ascii_only = raw.alphabet()
    assert (ascii_only.beyond, raw.alphabet()) == ((), ascii_only)
    raw.extend("é−")
    assert raw.alphabet().beyond == ("é", "−")
    raw.hide("世")
    same = raw.alphabet()
    raw.extend("é")
    assert raw.alphabet() is same


def test_all_visible_bytes_are_settled_and_are_the_text_itself():
    raw = RawText()
    raw.extend("aé")
    assert (raw.settled, raw.source(1, 3)) == (3, (1, 3))


def test_a_lone_surrogate_is_refused_with_its_place():
    with pytest.raises(InputError, match=r"got the lone surrogate '.udc80' at 1; decode it with errors='replace'"):
        encoded("a\udc80")
