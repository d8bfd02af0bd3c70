import pytest

from recherche.errors import QueryError
from recherche.queries import AR, CGram, Count, FirstEdge, Index, LastWrite, NextEdge, Parent

REFUSED = {
    "position 0": (lambda: Index(0), "Index counts positions from 1, got 0; use 1"),
    "empty gram": (lambda: CGram(()), "CGram needs at least one token to look for, got none; give"),
    "negative threshold": (lambda: Count("1", -1), "threshold of at least 0, got -1; use 0"),
    "two tokens as one key": (lambda: AR("1 2"), "AR looks for one token, got '1 2'; a token is not empty"),
    "empty vertex": (lambda: FirstEdge(""), "FirstEdge looks for one token, got ''"),
    "newline": (lambda: Parent("\n"), "Parent looks for one token"),
    "empty vertex before": (lambda: NextEdge("1", ""), "NextEdge looks for one token"),
    "space in pointer": (lambda: LastWrite(" p"), "LastWrite looks for one token"),
    "space in value": (lambda: Count("1 ", 0), "Count looks for one token"),
    "space in gram": (lambda: CGram(("1", "2 3")), "CGram looks for one token"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_a_query_that_cannot_be_meant_says_what_to_do(make, message):
    with pytest.raises(QueryError, match=message):
        make()


def test_queries_are_values():
    assert NextEdge(vertex="2", after="1") == NextEdge("2", "1")
    assert len({AR("1"), AR("1", "first"), AR("1", "last")}) == 2
