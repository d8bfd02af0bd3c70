"""Answers to the queries in plain words: where the answer stands, as bytes of the text."""

from typing import assert_never

from recherche.retrieval import text_extents as extents
from recherche.retrieval.limits import Limits
from recherche.retrieval.raw_text import Bytes
from recherche.retrieval.text_keys import Key, KeyFinder
from recherche.text_queries import After, Between, Line, Sentence, Word

KeyQuery = After | Word | Line | Sentence | Between


def answer(finder: KeyFinder, query: KeyQuery, limits: Limits) -> Bytes | None:
    """Where the answer stands; None if the key does not stand in the text, or nothing that could be an answer.

    Raises:
        RefusedError: RESULT_TOO_LONG.
    """
    if isinstance(query, Between):
        return _between(finder, query, limits)
    data, key = finder.data, Key.whole(query.key)
    begin = finder.place(key, query.which)
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


def _between(finder: KeyFinder, query: Between, limits: Limits) -> Bytes | None:
    """Between the k-th begin and the next end; the last begin is the last one that has an end after it."""
    opening, closing = Key.whole(query.begin), Key.whole(query.end)
    if query.which == "last":
        past = finder.last(closing)
        begin = None if past is None else finder.last(opening, past)
    else:
        begin = finder.place(opening, query.which)
    if begin is None:
        return None
    begin += len(opening.data)
    end = finder.next(closing, begin)
    return None if end is None else extents.stripped_within(finder.data, begin, end, limits=limits)
