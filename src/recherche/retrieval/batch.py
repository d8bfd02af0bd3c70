"""Many contexts that grow together: the same answers as one `Context` per row, from tables over all rows.

    >>> vocab = Vocab(("<s>", "~", "1", "2", "3"))
    >>> batch = BatchRetriever(vocab, n_rows=2, max_length=16)
    >>> batch.extend(0, vocab.encode(["<s>", "1", "~", "2"]))
    >>> batch.extend(1, vocab.encode(["<s>", "3", "~", "1"]))
    >>> [found.tokens for found in batch.query([FirstEdge("1"), FirstEdge("1")])]
    [['2'], ['3']]

What the tables cannot answer (a gram, a pattern, any query where the vocabulary is too large for a table per row)
falls back to a context of that row, which is made when it is first needed and then kept up to date.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import final

import numpy as np
from jaxtyping import Int

from recherche.errors import ConfigError
from recherche.queries import AR, Count, FirstEdge, Index, LastWrite, NextEdge, Parent, Query
from recherche.retrieval import batch_tables
from recherche.retrieval.context import Context
from recherche.retrieval.index import HIDDEN
from recherche.retrieval.limits import Paper
from recherche.retrieval.outcome import RESERVED, Found, Status, Tier
from recherche.retrieval.retriever import Retriever
from recherche.vocab import CONTROL_TOKENS, Vocab

MOST_TOKENS_IN_TABLES = 16_384


@final
class BatchRetriever:
    """Contexts of a batch of texts in one vocabulary.

    Args:
        n_rows: number of texts.
        max_length: most tokens that a text can have; a hidden span counts as one.
        retriever: the rules and limits.

    Raises:
        ConfigError: no rows or no room.
    """

    def __init__(self, vocab: Vocab, *, n_rows: int, max_length: int, retriever: Retriever | None = None) -> None:
        if n_rows < 1 or max_length < 1:
            raise ConfigError(
                f"A batch needs rows and room for tokens, got {n_rows} x {max_length}; give at least 1 x 1."
            )
        self._retriever = retriever if retriever is not None else Retriever()
        self._vocab = vocab
        self._has_tables = len(vocab) <= MOST_TOKENS_IN_TABLES
        shown = vocab if self._has_tables else Vocab(())
        self._tables = batch_tables.empty_tables(shown, n_rows=n_rows, max_length=max_length)
        self._hidden: list[list[int]] = [[] for _ in range(n_rows)]
        self._extra: list[list[int]] = [[] for _ in range(n_rows)]
        self._contexts: dict[int, tuple[Context, int]] = {}

    def append(self, tokens: Int[np.ndarray, " r"], rows: Int[np.ndarray, " r"] | None = None) -> None:
        """Add one token to each row, or to each of `rows`.

        Raises:
            ConfigError: an id lies outside the vocabulary, or a row is full.
        """
        where = np.arange(len(self._hidden)) if rows is None else rows
        if len(where) != len(tokens):
            raise ConfigError(f"{len(where)} rows need one token each, got {len(tokens)}; give as many.")
        self._append(where, tokens)

    def extend(self, row: int, tokens: Int[np.ndarray, " t"]) -> None:
        """Add tokens to one row, such as its prompt.

        Raises:
            ConfigError: as for `append`.
        """
        self._append(np.full(len(tokens), row), tokens)

    def hide(self, row: int, count: int) -> None:
        """Add `count` tokens to one row that no search shall see: a query that has just been written.

        Raises:
            ConfigError: the row is full.
        """
        place = int(self._tables.lengths[row])
        self._write(np.array([row]), np.array([HIDDEN]))
        extra = self._extra[row]
        self._hidden[row].append(place)
        extra.append((extra[-1] if extra else 0) + count - 1)

    def find(
        self, kinds: Int[np.ndarray, " b"], keys: Int[np.ndarray, " b"], others: Int[np.ndarray, " b"]
    ) -> tuple[Int[np.ndarray, " b"], Int[np.ndarray, " b"]]:
        """(ids of the answers, -1 for none; their places in the searched texts), one query per row, without objects.

        The kinds and what their arguments mean stand in `batch_tables`.

        Raises:
            ConfigError: the vocabulary is too large for tables.
        """
        if not self._has_tables:
            raise ConfigError(
                f"Tables serve up to {MOST_TOKENS_IN_TABLES} tokens, the vocabulary has {len(self._vocab)}; use query."
            )
        places, _ = batch_tables.find(self._tables, kinds, keys, others)
        ids = self._tables.tokens[np.arange(len(places)), places]
        return np.where(places < 0, -1, ids), places

    def query(self, queries: Sequence[Query | None]) -> list[Found | None]:
        """One answer per row, None where nothing is asked.

        Raises:
            ConfigError: not one query per row.
        """
        if len(queries) != len(self._hidden):
            raise ConfigError(
                f"{len(self._hidden)} rows need one query (or None) each, got {len(queries)}; give as many."
            )
        asked = np.array([self._encode(query) for query in queries], np.int64)
        places, groups = batch_tables.find(self._tables, asked[:, 0], asked[:, 1], asked[:, 2])
        found: list[Found | None] = []
        for row, (query, place, group) in enumerate(zip(queries, places.tolist(), groups.tolist(), strict=True)):
            if query is None:
                found.append(None)
            elif asked[row, 0] == batch_tables.NONE:
                found.append(self.context(row).query(query))
            else:
                found.append(self._found(row, place, group))
        return found

    def search(self, row: int, pattern: str) -> Found:
        """Search one row for a pattern."""
        return self.context(row).search(pattern)

    def context(self, row: int) -> Context:
        """One row as a context, brought up to date; it is the batch's own, so do not extend it."""
        context, done = self._contexts.get(row) or (self._retriever.context([], self._vocab), 0)
        length = int(self._tables.lengths[row])
        sizes = np.diff(self._extra[row], prepend=0) + 1
        for number in range(bisect_right(self._hidden[row], done - 1), len(self._hidden[row])):
            place = self._hidden[row][number]
            context.extend(self._tables.tokens[row, done:place])
            context.hide([0] * int(sizes[number]))
            done = place + 1
        context.extend(self._tables.tokens[row, done:length])
        self._contexts[row] = context, length
        return context

    def _append(self, rows: Int[np.ndarray, " r"], tokens: Int[np.ndarray, " r"]) -> None:
        if len(tokens) and not (tokens.min() >= 0 and tokens.max() < len(self._vocab)):
            raise ConfigError(f"Token ids run from 0 to {len(self._vocab) - 1}, got {tokens.min()} to {tokens.max()}.")
        self._write(rows, tokens)

    def _write(self, rows: Int[np.ndarray, " r"], tokens: Int[np.ndarray, " r"]) -> None:
        """Append in order; a row may be named more than once."""
        room = self._tables.tokens.shape[1]
        if (self._tables.lengths + np.bincount(rows, minlength=len(self._hidden))).max() > room:
            raise ConfigError(f"A row of the batch is full: it has room for {room} tokens; raise max_length.")
        batch_tables.append(self._tables, rows, tokens)

    def _encode(self, query: Query | None) -> tuple[int, int, int]:
        """(kind, key, other) of a query; kind NONE where no table can answer it, key -1 for a token never seen."""
        if query is None or not self._has_tables:
            return batch_tables.NONE, -1, -1
        match query:
            case Index(position):
                return batch_tables.INDEX, position, -1
            case AR(key, select):
                return batch_tables.AR_FIRST if select == "first" else batch_tables.AR_LAST, self._id(key), -1
            case Count(value, threshold):
                return batch_tables.COUNT, self._id(value), threshold
            case Parent(child):
                return batch_tables.PARENT, self._id(child), -1
            case FirstEdge(vertex):
                return batch_tables.FIRST_EDGE, self._id(vertex), -1
            case NextEdge(vertex, after):
                return batch_tables.NEXT_EDGE, self._id(vertex), self._id(after)
            case LastWrite(pointer):
                return batch_tables.LAST_WRITE, self._id(pointer), -1
        return batch_tables.NONE, -1, -1

    def _id(self, token: str) -> int:
        return self._vocab.id_of(token) if token in self._vocab else -1

    def _found(self, row: int, place: int, group: int) -> Found:
        if place < 0:
            return Found(Status.NO_MATCH, tier=Tier.QUERY)
        if group != 1 and isinstance(self._retriever.mode, Paper):
            return Found(Status.UNSET_GROUP, tier=Tier.QUERY)
        token = self._vocab.tokens[self._tables.tokens[row, place]]
        if token in CONTROL_TOKENS:
            return Found(Status.RESERVED_RESULT, reason=RESERVED, tier=Tier.QUERY)
        number = bisect_right(self._hidden[row], place)
        begin = place + (self._extra[row][number - 1] if number else 0)
        return Found(Status.OK, [token], (begin, begin + 1), tier=Tier.QUERY)
