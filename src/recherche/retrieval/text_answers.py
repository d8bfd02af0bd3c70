"""Answers to the queries in plain words: where the answer stands, as bytes of the text.

Keys are found in the searched bytes, which may be a folded form of the text; what stands around them is looked for in
the text itself.
"""

from typing import assert_never

from recherche.retrieval import text_extents as extents
from recherche.retrieval.folding import Fold
from recherche.retrieval.limits import Limits
from recherche.retrieval.searched_bytes import AbstractSearchedBytes, Bytes
from recherche.retrieval.text_index import TextIndex
from recherche.retrieval.text_keys import Key, KeyFinder
from recherche.text_queries import After, Between, Line, Sentence, Which, Word

KeyQuery = After | Word | Line | Sentence | Between
EXACT = Fold(form=None)


class KeyedText:
    """A text with an index of it.

    Args:
        text: the bytes of the text itself.
        searched: the bytes in which keys are found, up to date.
        fold: how a key becomes bytes of that kind.
    """

    __slots__ = ("_finder", "_fold", "_searched", "_text")

    def __init__(self, text: bytearray, searched: AbstractSearchedBytes, *, index: TextIndex, fold: Fold) -> None:
        self._text = text
        self._searched = searched
        self._fold = fold
        self._finder = KeyFinder(searched, index)

    def literal(self, text: str, which: Which) -> Bytes | None:
        """The k-th place of these characters, or the last one."""
        return self._place(Key(self._fold(text).encode()), which)

    def answer(self, query: KeyQuery, limits: Limits) -> Bytes | None:
        """Where the answer stands; None if the key does not stand in the text, or nothing that could be an answer.

        Raises:
            RefusedError: RESULT_TOO_LONG.
        """
        if isinstance(query, Between):
            return self._between(query, limits)
        place = self._place(self._whole(query.key), query.which)
        if place is None:
            return None
        begin, end = place
        match query:
            case After():
                return extents.rest_of_line(self._text, end, limits)
            case Word():
                return extents.next_word(self._text, end, limits)
            case Line():
                return extents.whole_line(self._text, begin, end, limits=limits)
            case Sentence():
                return extents.whole_sentence(self._text, begin, end, limits=limits)
            case _:
                assert_never(query)

    def _whole(self, key: str) -> Key:
        return Key.whole(self._fold(key))

    def _place(self, key: Key, which: Which) -> Bytes | None:
        begin = self._finder.place(key, which)
        return None if begin is None else self._searched.source(begin, begin + len(key.data))

    def _between(self, query: Between, limits: Limits) -> Bytes | None:
        """Between the k-th begin and the next end; the last begin is the last one that has an end after it."""
        opening, closing = self._whole(query.begin), self._whole(query.end)
        if query.which == "last":
            past = self._finder.last(closing)
            begin = None if past is None else self._finder.last(opening, past)
        else:
            begin = self._finder.place(opening, query.which)
        if begin is None:
            return None
        end = self._finder.next(closing, begin + len(opening.data))
        if end is None:
            return None
        _, first = self._searched.source(begin, begin + len(opening.data))
        past, _ = self._searched.source(end, end + len(closing.data))
        return extents.stripped_within(self._text, first, max(first, past), limits=limits)
