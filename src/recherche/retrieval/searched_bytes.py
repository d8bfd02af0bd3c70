"""What a pattern or a key is looked for in: bytes of UTF-8 that grow, and what they stand for in the text itself."""

from abc import abstractmethod

from recherche.retrieval.alphabet import Alphabet, beyond_ascii
from recherche.retrieval.growing_bytes import GrowingBytes

Bytes = tuple[int, int]
"""Where a stretch of bytes begins and ends."""


class AbstractSearchedBytes(GrowingBytes):
    """The bytes of the text itself, or of a form of it."""

    __slots__ = ("_alphabet", "_looked_at")

    def __init__(self) -> None:
        super().__init__()
        self._alphabet = Alphabet(())
        self._looked_at = 0

    @property
    @abstractmethod
    def settled(self) -> int:
        """The end of the bytes that no growth can change."""

    @abstractmethod
    def source(self, begin: int, end: int) -> Bytes:
        """The bytes of the text itself for a stretch of these."""

    def alphabet(self) -> Alphabet:
        """The characters beyond ASCII that the bytes hold; the same object as long as they are the same."""
        if self._looked_at < len(self.data):
            found = beyond_ascii(self.data[self._looked_at :])
            self._looked_at = self.settled
            if not found <= set(self._alphabet.beyond):
                self._alphabet = Alphabet(found.union(self._alphabet.beyond))
        return self._alphabet

    def share_alphabet_with(self, twin: "AbstractSearchedBytes") -> None:
        """Give `twin`, which has the same bytes, what is known of their characters."""
        twin._alphabet, twin._looked_at = self._alphabet, self._looked_at
