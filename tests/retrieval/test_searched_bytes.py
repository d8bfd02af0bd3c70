from typing_extensions import override

from recherche.retrieval.searched_bytes import AbstractSearchedBytes, Bytes


class Unsettled(AbstractSearchedBytes):
    """Bytes of which the last character may change."""

    @property
    @override
    def settled(self) -> int:
        return len(self.data.decode()[:-1].encode())

    @override
    def source(self, begin: int, end: int) -> Bytes:
        return begin, end


def test_the_alphabet_follows_what_may_change():
    searched = Unsettled()
    searched.append("aé".encode())
    assert searched.alphabet().beyond == ("é",)
    del searched.data[1:]
    searched.append("世x".encode())
    assert set(searched.alphabet().beyond) >= {"世"}


def test_a_twin_knows_the_characters():
    searched, twin = Unsettled(), Unsettled()
    searched.append("aé世b".encode())
    known = searched.alphabet()
    searched.share_with(twin)
    searched.share_alphabet_with(twin)
    assert twin.alphabet() is known
