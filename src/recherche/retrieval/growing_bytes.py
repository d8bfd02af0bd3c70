"""Bytes that only grow, and are copied first if somebody else still reads them."""


class GrowingBytes:
    """The bytes of a text, shared by forks and by searches that still run until either grows."""

    __slots__ = ("_is_shared", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self._is_shared = False

    def share(self) -> None:
        """Say that a search still reads the bytes, so that growing must not touch them."""
        self._is_shared = True

    def share_with(self, twin: "GrowingBytes") -> None:
        """Give `twin` the same bytes; whichever of the two grows first makes its own copy."""
        self._is_shared = twin._is_shared = True
        twin.data = self.data

    def append(self, more: bytes) -> None:
        """Add bytes at the end."""
        self.own()
        self.data += more

    def own(self) -> None:
        """Make the bytes this text's own, so that they may be changed."""
        if self._is_shared:
            self.data, self._is_shared = bytearray(self.data), False
