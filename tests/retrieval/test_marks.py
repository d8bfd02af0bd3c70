from random import Random

import pytest

from recherche.retrieval import marks
from recherche.retrieval.marks import Marks


def count_breaks(data: bytes | bytearray) -> int:
    return data.count(b"\n")


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(marks, "_BLOCK", 8)


def test_marks_count_what_stands_before():
    random, data, counted = Random(1), bytearray(), Marks(count_breaks)
    for _ in range(30):
        data += bytes(random.choices(b"abcdefgh\n", k=random.randint(0, 30)))
        counted = counted.fork() if random.random() < 0.3 else counted
        for at in random.choices(range(len(data) + 1), k=10):
            assert counted.before(data, at) == data.count(b"\n", 0, at)
            begin, end = counted.stretch_with_last(data, at)
            assert data.rfind(b"\n", begin, end) == data.rfind(b"\n", 0, at)


def test_marks_forget_what_has_changed():
    data, counted = bytearray(b"\n" * 40), Marks(count_breaks)
    assert counted.before(data, 40) == 40
    data[20:] = b"a" * 20
    counted.forget(20)
    assert counted.before(data, 40) == 20


def test_marks_that_are_not_told_of_a_change_are_wrong():
    data, counted = bytearray(b"\n" * 40), Marks(count_breaks)
    counted.before(data, 40)
    data[20:] = b"a" * 20
    assert counted.before(data, 40) != 20
