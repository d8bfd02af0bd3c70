"""Search that does not tell some characters from others: one normal form, or upper from lower case.

A text is folded cluster by cluster: a character and what may combine with it. Places are those of the text itself; what
is found within a cluster that folding has changed stands for the whole cluster.

Reference: Unicode Standard Annex 15, Unicode Normalization Forms, https://www.unicode.org/reports/tr15/
"""

import functools
import itertools
import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

from typing_extensions import override

from recherche.errors import ConfigError
from recherche.retrieval.alphabet import beyond_ascii
from recherche.retrieval.searched_bytes import AbstractSearchedBytes, Bytes

_RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
_PIECE = 1 << 16
_PAST_LAST_COMPOSED = 0x30000


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """What a search does not tell apart.

    Attributes:
        form: the normal form to which text and query are brought; None leaves them as they are.
        case: "ignore" takes upper and lower case together: in a pattern as `(?i)` does, elsewhere by Unicode's full
            case folding, where `ß` is `ss`.

    Raises:
        ConfigError: another form or case.
    """

    form: Literal["NFC"] | None = "NFC"
    case: Literal["keep", "ignore"] = "keep"

    def __post_init__(self) -> None:
        if self.form not in ("NFC", None) or self.case not in ("keep", "ignore"):
            raise ConfigError(
                f"A search folds to the form 'NFC' or None, with the case 'keep' or 'ignore', got {self.form!r} and "
                f"{self.case!r}; choose among these."
            )

    def __call__(self, text: str) -> str:
        """The text with what is not told apart made equal.

        >>> Fold(case="ignore")("CAFE\\u0301")
        'café'
        """
        text = text if self.form is None else unicodedata.normalize(self.form, text)
        if self.case == "ignore":
            text = text.casefold()
            text = text if self.form is None else unicodedata.normalize(self.form, text)
        return text

    def keeps_places(self, text: str) -> bool:
        """Whether folding only puts characters in the place of others of the same size."""
        if self.form is not None and not unicodedata.is_normalized(self.form, text):
            return False
        if self.case == "keep":
            return True
        pairs = ((character, character.casefold()) for character in beyond_ascii(text.encode()))
        same = all(len(folded) == 1 and len(folded.encode()) == len(one.encode()) for one, folded in pairs)
        return same and (self.form is None or unicodedata.is_normalized(self.form, text.casefold()))


class _Changed(NamedTuple):
    """A cluster that folding has made longer or shorter: where it stands in the folded and in the source bytes."""

    begin: int
    end: int
    source_begin: int
    source_end: int


@final
class FoldedText(AbstractSearchedBytes):
    """The folded bytes of a growing text, and where they come from."""

    __slots__ = ("_changed", "_fold", "_seen", "_settled", "_settled_source")

    def __init__(self, fold: Fold) -> None:
        super().__init__()
        self._fold = fold
        self._changed: list[_Changed] = []
        self._settled = self._settled_source = self._seen = 0

    def fork(self) -> "FoldedText":
        """The same text, which grows on its own."""
        twin = FoldedText(self._fold)
        self.share_with(twin)
        self.share_alphabet_with(twin)
        twin._changed, twin._seen = self._changed.copy(), self._seen
        twin._settled, twin._settled_source = self._settled, self._settled_source
        return twin

    @property
    @override
    def settled(self) -> int:
        return self._settled

    @override
    def source(self, begin: int, end: int) -> Bytes:
        first = self._source_of(begin)[0]
        return first, first if begin == end else self._source_of(end)[1]

    def grow(self, source: bytearray) -> None:
        """Add what `source`, which has only grown, has gained; its last cluster may have changed."""
        if len(source) == self._seen:
            return
        self._seen = len(source)
        self.own()
        del self.data[self._settled :]
        while self._changed and self._changed[-1].begin >= self._settled:
            self._changed.pop()
        text = source[self._settled_source :].decode()
        last = len(text) - 1
        while last > 0 and _combines(text[last]):
            last -= 1
        self._add(text[:last])
        self._settled, self._settled_source = len(self.data), len(source) - len(text[last:].encode())
        self._add(text[last:])

    def _source_of(self, at: int) -> Bytes:
        """The source bytes for a byte at which something begins, and for one at which something ends."""
        row = bisect_right(self._changed, at, key=lambda changed: changed.begin) - 1
        if row < 0:
            return at, at
        changed = self._changed[row]
        if changed.begin < at < changed.end:
            return changed.source_begin, changed.source_end
        past = at - changed.end + changed.source_end if at >= changed.end else changed.source_begin
        return past, past

    def _add(self, text: str) -> None:
        """Fold clusters that stand alone, and add them."""
        begin = 0
        while begin < len(text):
            end = min(len(text), begin + _PIECE)
            while end < len(text) and _combines(text[end]):
                end += 1
            piece = text[begin:end]
            if self._fold.keeps_places(piece):
                self._add_plain(piece)
            else:
                self._add_clusters(piece)
            begin = end

    def _add_clusters(self, text: str) -> None:
        ends_at = 0
        for run in _RUN.finditer(text):
            self._add_plain(text[ends_at : run.start()])
            ends_at = run.end()
            for cluster in clusters(run[0]):
                self._add_cluster(cluster)
        self._add_plain(text[ends_at:])

    def _add_plain(self, text: str) -> None:
        self.append(self._fold(text).encode())

    def _add_cluster(self, cluster: str) -> None:
        folded = self._fold(cluster)
        data, size, begin = folded.encode(), len(cluster.encode()), len(self.data)
        # One character for another of the same size leaves all places as they are.
        if folded != cluster and not (len(folded) == len(cluster) == 1 and len(data) == size):
            source_begin = self._source_of(begin)[0]
            self._changed.append(_Changed(begin, begin + len(data), source_begin, source_begin + size))
        self.append(data)


def clusters(text: str) -> list[str]:
    """Stretches that are folded alone: a character and those after it that may combine with it.

    >>> clusters("ae\\u0301b")
    ['a', 'e\\u0301', 'b']
    """
    starts = [at for at, character in enumerate(text) if not at or not _combines(character)]
    return [text[begin:end] for begin, end in itertools.pairwise((*starts, len(text)))]


@functools.lru_cache(maxsize=1 << 12)
def _combines(character: str) -> bool:
    """Whether normalisation may put the character together with one before it."""
    return character > "\x7f" and (unicodedata.combining(character) != 0 or character in _second_parts())


@functools.lru_cache(maxsize=1)
def _second_parts() -> frozenset[str]:
    """Characters that stand second in a canonical decomposition, and the parts of Hangul syllables."""
    seconds = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for code in range(0xC0, _PAST_LAST_COMPOSED):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(chr(int(parts[1], 16)))
    return frozenset(seconds)
