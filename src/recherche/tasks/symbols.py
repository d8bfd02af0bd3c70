"""The tokens that tasks are written in, with ids that compiled code may rely on.

Symbols come first, in a fixed order, and the numbers follow. Number k >= 1 has id
FAILED_ID + k, so that "no number", k = 0, is FAILED itself.

    >>> number_vocab(3).tokens
    ('<s>', '<d>', '~', '-', 'YES', 'NO', '<StartSearch>', '<EndSearch>', 'FAILED', '1', '2', '3')
"""

from functools import lru_cache

from recherche.vocab import BEGIN, END_OF_DATA, END_SEARCH, FAILED, NO, START_SEARCH, YES, Vocab

EDGE = "~"
RECORD = "-"
SYMBOLS = (BEGIN, END_OF_DATA, EDGE, RECORD, YES, NO, START_SEARCH, END_SEARCH, FAILED)
BEGIN_ID, END_OF_DATA_ID, EDGE_ID, RECORD_ID, YES_ID, NO_ID, START_ID, END_ID, FAILED_ID = range(len(SYMBOLS))


@lru_cache(maxsize=64)
def number_vocab(n_numbers: int) -> Vocab:
    """The symbols, then the numbers 1..n_numbers."""
    return Vocab((*SYMBOLS, *map(str, range(1, n_numbers + 1))))
