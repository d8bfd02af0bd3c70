from random import Random

import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.queries import AR, CGram, FirstEdge, Index
from recherche.retrieval import BatchRetriever, Context, Paper, Retriever, Status, batch, batch_tables
from recherche.vocab import CONTROL_TOKENS, Vocab
from tests.retrieval.oracles import KINDS, random_queries

NAMES = ("1", "2", "3", "11")
VOCAB = Vocab((*NAMES, "~", "-", "=", ";", *CONTROL_TOKENS))
QUERY_NAMES = (*NAMES, "unseen")


def grow(random: Random, rows: BatchRetriever, contexts: list[Context], steps: int) -> None:
    """Add the same random tokens and hidden spans to a batch and to one context per row."""
    everyone = np.arange(len(contexts))
    for _ in range(steps):
        # Edges and records come from signs between names; control tokens are rare.
        ids = np.array([random.choice((0, 1, 2, 3, 0, 1, 2, 4, 4, 5, 6, 7, 7, 8)) for _ in contexts])
        some = np.array(sorted(random.sample(range(len(contexts)), k=random.randint(1, len(contexts)))))
        rows.append(ids[some], None if len(some) == len(everyone) else some)
        for row in some:
            contexts[row].extend([int(ids[row])])
        if random.random() < 0.05:
            row, count = random.randrange(len(contexts)), random.randint(1, 4)
            rows.hide(row, count)
            contexts[row].hide([0] * count)


@pytest.mark.parametrize("most_tokens", [batch.MOST_TOKENS_IN_TABLES, 1], ids=["tables", "fall-back"])
@pytest.mark.parametrize("mode", [None, Paper()], ids=["standard", "paper"])
def test_a_batch_answers_as_one_context_per_row(monkeypatch, most_tokens: int, mode):
    monkeypatch.setattr(batch, "MOST_TOKENS_IN_TABLES", most_tokens)
    random, retriever = Random(1), Retriever(mode=mode)
    rows = BatchRetriever(VOCAB, n_rows=4, max_length=400, retriever=retriever)
    contexts = [retriever.context([], VOCAB) for _ in range(4)]
    statuses = set()
    for _ in range(25):
        grow(random, rows, contexts, steps=3)
        for kind in KINDS:
            queries = random_queries(random, kind, 4, QUERY_NAMES)
            found = rows.query(queries)
            assert found == [context.query(query) for context, query in zip(contexts, queries, strict=True)]
            statuses |= {one.status for one in found}
    assert {Status.OK, Status.NO_MATCH, Status.RESERVED_RESULT} <= statuses
    assert (Status.UNSET_GROUP in statuses) is (mode is not None)


def test_patterns_run_on_one_row():
    rows = BatchRetriever(VOCAB, n_rows=2, max_length=8)
    rows.extend(1, VOCAB.encode(["1", "~", "2"]))
    assert rows.search(1, "(1 ~ 2)").tokens == ["1", "~", "2"]
    rows.append(VOCAB.encode(["3", "3"]))
    assert rows.search(1, "(2 3)$").span == (2, 4)
    assert rows.search(0, "(.*)").tokens == ["3"]


def test_none_asks_nothing_and_a_gram_falls_back():
    rows = BatchRetriever(VOCAB, n_rows=2, max_length=8)
    rows.extend(1, VOCAB.encode(["1", "2", "3", "1", "2"]))
    nothing, gram = rows.query([None, CGram(("1", "2"))])
    assert nothing is None
    assert gram is not None
    assert gram.tokens == ["3"]


def test_arrays_of_queries_give_arrays_of_ids_and_places():
    rows = BatchRetriever(VOCAB, n_rows=3, max_length=8)
    for row in range(3):
        rows.extend(row, VOCAB.encode(["1", "~", "2", "3"]))
    kinds = np.array([batch_tables.FIRST_EDGE, batch_tables.AR_FIRST, batch_tables.INDEX])
    ids, places = rows.find(kinds, np.array([1, 1, 3]), np.full(3, -1))
    assert ids.tolist() == [0, -1, 1]
    assert places.tolist() == [0, -1, 2]


def test_wrong_sizes_say_what_to_give(monkeypatch):
    with pytest.raises(ConfigError, match="needs rows and room for tokens, got 0 x 5"):
        BatchRetriever(VOCAB, n_rows=0, max_length=5)
    rows = BatchRetriever(VOCAB, n_rows=2, max_length=1)
    with pytest.raises(ConfigError, match="2 rows need one query"):
        rows.query([Index(1)])
    with pytest.raises(ConfigError, match="2 rows need one token each, got 1"):
        rows.append(np.array([0]))
    with pytest.raises(ConfigError, match="Token ids run from 0 to 9, got 0 to 10"):
        rows.append(np.array([0, 10]))
    rows.append(np.array([0, 1]))
    with pytest.raises(ConfigError, match="has room for 1 tokens; raise max_length"):
        rows.append(np.array([0, 1]))
    monkeypatch.setattr(batch, "MOST_TOKENS_IN_TABLES", 1)
    large = BatchRetriever(VOCAB, n_rows=1, max_length=4)
    with pytest.raises(ConfigError, match=r"Tables serve up to 1 tokens.*use query"):
        large.find(np.array([1]), np.array([1]), np.array([1]))
    large.extend(0, VOCAB.encode(["1", "2", "3"]))
    assert [found and found.tokens for found in large.query([AR("1")])] == [["2"]]


def test_the_batch_is_loaded_only_when_it_is_asked_for():
    import recherche.retrieval

    assert recherche.retrieval.BatchRetriever is BatchRetriever
    with pytest.raises(AttributeError, match="has no attribute 'BatchRetreiver'"):
        recherche.retrieval.BatchRetreiver  # noqa: B018


def test_a_query_of_a_token_outside_the_vocabulary_finds_nothing():
    rows = BatchRetriever(VOCAB, n_rows=1, max_length=4)
    rows.extend(0, VOCAB.encode(["1", "~", "2"]))
    [found] = rows.query([FirstEdge("unseen")])
    assert found is not None
    assert found.status is Status.NO_MATCH
