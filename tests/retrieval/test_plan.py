import pytest

from recherche.queries import AR, CGram, Count, FirstEdge, Index, LastWrite, NextEdge, Parent
from recherche.retrieval.plan import Anchor, Piece, Plan, Tail, Tally, plan_of

EDGES_AT_2 = (Piece(3, ((1, "~"), (2, "2")), ((1, 0),)), Piece(3, ((0, "2"), (1, "~")), ((2, 2),)))
PLANS = {
    Index(3): Plan((Piece(4, (), ((1, 2),)),), Anchor.START),
    AR("7"): Plan((Piece(3, ((0, "7"),), ((1, 1),)),)),
    AR("7", "last"): Plan((Piece(3, ((0, "7"),), ((1, 1),)),), Anchor.LAST),
    CGram(("1", "2")): Plan((Piece(5, ((0, "1"), (1, "2")), ((1, 2),)),)),
    Count("5", 2): Tally("5", 2),
    Parent("2"): Plan((Piece(3, ((1, "-"), (2, "2")), ((1, 0),)),)),
    FirstEdge("2"): Plan(EDGES_AT_2),
    NextEdge("2", "1"): Plan(
        EDGES_AT_2, before=(Piece(3, ((0, "1"), (1, "~"), (2, "2")), ()), Piece(3, ((0, "2"), (1, "~"), (2, "1")), ()))
    ),
    LastWrite("p"): Plan((Piece(4, ((0, "p"), (1, "="), (3, ";")), ((1, 2),)),), Anchor.LAST),
}


@pytest.mark.parametrize(("query", "plan"), PLANS.items(), ids=repr)
def test_a_query_becomes_the_runs_of_tokens_that_its_template_describes(query, plan):
    assert plan_of(query) == plan


def test_a_plan_asks_for_nothing_after_its_piece_unless_told():
    assert plan_of(AR("7")).tail is Tail.OPEN
