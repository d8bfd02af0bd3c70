from random import Random

import pytest

from recherche.retrieval.index import TokenIndex
from recherche.retrieval.lexicon import Lexicon
from recherche.retrieval.text import Text


def made(words: list[str]) -> tuple[Text, TokenIndex, Lexicon]:
    """A text of words, "" for a hidden span, that has grown in random steps."""
    random, text, index, lexicon = Random(1), Text(), TokenIndex(), Lexicon()
    for word in words:
        if word:
            index.append(lexicon.ids_of([word]))
        else:
            index.append_hidden()
        if random.random() < 0.2:
            text.grow(index, lexicon)
    text.grow(index, lexicon)
    return text, index, lexicon


@pytest.mark.parametrize("n_words", [0, 1, 3, 511, 512, 513, 2_000])
def test_text_is_the_words_joined_and_places_count_them(n_words: int):
    random = Random(n_words)
    words = [random.choice(("1", "ab", "é", "", "∼~")) for _ in range(n_words)]
    text, _, _ = made(words)
    joined = " ".join(words).encode()
    assert bytes(text.data) == joined
    for at in range(0, len(joined), 7):
        assert text.place_of(at) == joined.count(b" ", 0, at)


def test_borders_are_beside_spaces_and_ends():
    text, _, _ = made(["ab", "", "é", "c"])
    borders = [(b, e) for b in range(len(text.data)) for e in range(b + 1, len(text.data) + 1) if text.is_border(b, e)]
    assert (0, 2) in borders
    assert (4, 6) in borders
    assert (0, len(text.data)) in borders
    assert {(0, 1), (1, 2), (5, 6), (2, 4)} & set(borders) == set()
    assert text.words(4, len(text.data)) == ["é", "c"]
    assert (text.count_words(0, len(text.data)), text.without_spaces(2, 6)) == (4, (4, 6))


def test_a_fork_copies_when_either_grows():
    text, index, lexicon = made(["a", "b"])
    twin, twin_index = text.fork(), index.fork()
    index.append(lexicon.ids_of(["c"]))
    twin_index.append(lexicon.ids_of(["d"]))
    text.grow(index, lexicon)
    twin.grow(twin_index, lexicon)
    assert (bytes(text.data), bytes(twin.data)) == (b"a b c", b"a b d")


def test_a_shared_text_can_grow_while_a_search_reads_it():
    text, index, lexicon = made(["a", "b"])
    with memoryview(text.data) as reader:
        text.share()
        index.append(lexicon.ids_of(["c"]))
        text.grow(index, lexicon)
        assert (bytes(reader), bytes(text.data)) == (b"a b", b"a b c")
