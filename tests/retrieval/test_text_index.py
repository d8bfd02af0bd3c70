from random import Random

import numpy as np
import pytest

from recherche.retrieval import text_index
from recherche.retrieval.text_index import TextIndex, hashes

SMALL_BLOCK = 16


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_index, "BLOCK", SMALL_BLOCK)
    monkeypatch.setattr(text_index, "_FEWEST_BLOCKS", 1)


def test_three_bytes_have_one_hash_and_the_first_two_decide_its_upper_bits():
    data = np.frombuffer(b"abcabdabc", np.uint8)
    hashed = hashes(data)
    assert hashed[0] == hashed[6] < 1 << 14
    assert hashed[0] >> 4 == hashed[3] >> 4
    assert len(hashed) == 7


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("key", [b"a", b"ab", b"abc", b"bcab", b"cabcabca"])
def test_every_place_of_a_key_is_among_those_looked_up(key: bytes):
    random, index, data = Random(str(key)), TextIndex(), bytearray()
    for _ in range(20):
        data = data + bytes(random.choices(b"abc", k=random.randint(1, 40)))
        index.grow(data, len(data))
        assert index.end <= len(data)
        if len(key) < 2 or not index.n_blocks:
            continue
        offset, hashed, count = index.rarest(key)
        places = index.places(hashed, range(index.n_blocks)).tolist()
        assert places == sorted(set(places))
        assert len(places) == count
        every = [at + offset for at in range(len(data)) if data.startswith(key, at)]
        assert {at for at in every if at < index.end} <= set(places)


@pytest.mark.usefixtures("small_blocks")
def test_what_is_looked_up_is_the_rarest_part():
    index = TextIndex()
    index.grow(bytearray(b"abcabcabcxyzabcabcabc"), 21)
    offset, _, _ = index.rarest(b"abcxyz")
    assert offset >= 1
    assert len(index.places(index.rarest(b"xyz")[1], range(index.n_blocks))) == 1


@pytest.mark.usefixtures("small_blocks")
def test_a_fork_grows_on_its_own():
    index, data = TextIndex(), bytearray(b"abc" * 10)
    index.grow(data, len(data))
    twin = index.fork()
    index.grow(data + b"xyz" * 20, 90)
    twin.grow(data + b"abc" * 20, 90)
    found = {one: one.places(one.rarest(b"xyz")[1], range(one.n_blocks)).tolist() for one in (index, twin)}
    assert (len(found[index]), len(found[twin])) == (17, 0)


def test_a_short_text_is_not_indexed():
    index = TextIndex()
    index.grow(bytearray(b"a" * text_index.BLOCK * 8), text_index.BLOCK * 7)
    assert index.n_blocks == 0
    index.grow(bytearray(b"a" * (text_index.BLOCK * 8 + 2)), text_index.BLOCK * 8 + 2)
    assert index.n_blocks == 8
