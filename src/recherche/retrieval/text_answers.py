"""Answers to the queries in plain words: where the answer stands, as bytes of the text."""

from typing import assert_never

from recherche.retrieval import text_extents as extents
from recherche.retrieval.limits import Limits
from recherche.retrieval.raw_text import Bytes
from recherche.retrieval.text_keys import Key, last_place, next_place, place_of
from recherche.text_queries import After, Between, Line, Sentence, Word

KeyQuery = After | Word | Line | Sentence | Between


def answer(data: bytearray, query: KeyQuery, limits: Limits) -> Bytes | None:
    """Where the answer stands; None if the key does not stand in the text, or nothing that could be an answer.

    Raises:
        RefusedError: RESULT_TOO_LONG.
    """
    if isinstance(query, Between):
        return _between(data, query, limits)
    key = Key.whole(query.key)
    begin = place_of(data, key, query.which)
    if begin is None:
        return None
    end = begin + len(key.data)
    match query:
        case After():
            return extents.rest_of_line(data, end, limits)
        case Word():
            return extents.next_word(data, end, limits)
        case Line():
            return extents.whole_line(data, begin, end, limits=limits)
        case Sentence():
            return extents.whole_sentence(data, begin, end, limits=limits)
        case _:
            assert_never(query)


def _between(data: bytearray, query: Between, limits: Limits) -> Bytes | None:
    """Between the k-th begin and the next end; the last begin is the last one that has an end after it."""
    opening, closing = Key.whole(query.begin), Key.whole(query.end)
    if query.which == "last":
        past = last_place(data, closing)
        begin = None if past is None else last_place(data, opening, past)
    else:
        begin = place_of(data, opening, query.which)
    if begin is None:
        return None
    begin += len(opening.data)
    end = next_place(data, closing, begin)
    return None if end is None else extents.stripped_within(data, begin, end, limits=limits)
