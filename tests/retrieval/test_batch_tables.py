from random import Random

import numpy as np
import pytest

from recherche.queries import AR, Count, FirstEdge, Index, LastWrite, NextEdge, Parent, Query
from recherche.retrieval import batch_tables
from recherche.retrieval.batch_tables import append, empty_tables, find
from recherche.retrieval.index import HIDDEN
from recherche.vocab import Vocab
from tests.retrieval.oracles import answer

VOCAB = Vocab(("1", "2", "3", "~", "-", "=", ";"))


def asked(random: Random, kind: int) -> tuple[Query, int, int]:
    """(a query of a kind, its key and its other argument as the tables take them)."""
    a, b = random.randrange(3), random.randrange(3)
    key, other = VOCAB.tokens[a], VOCAB.tokens[b]
    number = random.randrange(4)
    return {
        batch_tables.INDEX: (Index(number + 1), number + 1, -1),
        batch_tables.AR_FIRST: (AR(key), a, -1),
        batch_tables.AR_LAST: (AR(key, "last"), a, -1),
        batch_tables.COUNT: (Count(key, number), a, number),
        batch_tables.PARENT: (Parent(key), a, -1),
        batch_tables.FIRST_EDGE: (FirstEdge(key), a, -1),
        batch_tables.NEXT_EDGE: (NextEdge(key, other), a, b),
        batch_tables.LAST_WRITE: (LastWrite(key), a, -1),
    }[kind]


@pytest.mark.parametrize("kind", range(batch_tables.INDEX, batch_tables.LAST_WRITE + 1))
def test_tables_give_the_answer_of_the_definition_while_they_grow(kind: int):
    random = Random(kind)
    tables = empty_tables(VOCAB, n_rows=3, max_length=120)
    num_found = 0
    for _ in range(120):
        tokens = [
            HIDDEN if random.random() < 0.02 else random.choice((0, 1, 2, 0, 1, 2, 3, 3, 4, 5, 6)) for _ in range(3)
        ]
        append(tables, np.arange(3), np.array(tokens))
        queries = [asked(random, kind) for _ in range(3)]
        places, _ = find(tables, np.full(3, kind), *np.array([query[1:] for query in queries]).T.copy())
        for row, (query, _, _) in enumerate(queries):
            ids = tables.tokens[row, : tables.lengths[row]]
            text = [None if number == HIDDEN else VOCAB.tokens[number] for number in ids]
            place = answer(query, text)
            assert places[row] == (-1 if place is None else place)
            num_found += place is not None
    assert num_found


def test_signs_that_the_vocabulary_lacks_are_never_met():
    tables = empty_tables(Vocab(("a", "b")), n_rows=1, max_length=8)
    append(tables, np.zeros(4, np.int64), np.array([0, 1, HIDDEN, 0]))
    assert (tables.parent == -1).all()
    assert (tables.edge_first == -1).all()


def test_nothing_is_found_where_nothing_is_asked():
    tables = empty_tables(VOCAB, n_rows=2, max_length=8)
    append(tables, np.zeros(3, np.int64), np.array([0, 1, 2]))
    kinds = np.array([batch_tables.NONE, batch_tables.AR_FIRST])
    assert find(tables, kinds, np.array([0, -1]), np.array([0, 0]))[0].tolist() == [-1, -1]
