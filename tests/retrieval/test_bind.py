import pytest

from recherche.queries import AR, CGram, Count, FirstEdge, LastWrite, NextEdge, Query
from recherche.retrieval.bind import BoundPlan, BoundTally, Key, bind
from recherche.retrieval.index import TokenIndex, pair_key
from recherche.retrieval.plan import Piece, Plan, plan_of

IDS = {token: number for number, token in enumerate(("~", "=", ";", "a", "b", "c"))}
EDGE, SET, END, A, B, C = range(6)


def keys(query: Query) -> list[tuple[Key, ...]]:
    bound = bind(plan_of(query), IDS)
    assert isinstance(bound, BoundPlan)
    return [run.keys for run in bound.runs]


KEYS = {
    "a token alone": (AR("a"), [(Key(0, 0, A, ()),)]),
    "near pairs": (CGram(("a", "b")), [(Key(0, 1, pair_key(A, B), ()),)]),
    "both sides of a sign": (
        FirstEdge("a"),
        [(Key(1, 1, pair_key(EDGE, A), ()),), (Key(0, 1, pair_key(A, EDGE), ()),)],
    ),
    "the outer pair of three": (CGram(("a", "b", "c")), [(Key(0, 2, pair_key(A, C), ((1, B),)),)]),
    "what lies apart is compared": (
        LastWrite("a"),
        [(Key(0, 1, pair_key(A, SET), ((3, END),)), Key(1, 2, pair_key(SET, END), ((0, A),)))],
    ),
}


@pytest.mark.parametrize(("query", "wanted"), KEYS.values(), ids=KEYS)
def test_a_run_is_looked_up_by_its_near_pairs(query: Query, wanted: list[tuple[Key, ...]]):
    assert keys(query) == wanted


def test_every_key_finds_a_run_where_it_stands():
    text = TokenIndex()
    text.append([A, B, C, A])
    for key in keys(CGram(("b", "c", "a")))[0]:
        assert [int(place) - key.offset for run in text.positions(key.distance, key.number) for place in run] == [1]


def test_distant_tokens_are_keys_of_their_own():
    bound = bind(Plan((Piece(5, ((0, "a"), (4, "b")), ()),)), IDS)
    assert isinstance(bound, BoundPlan)
    assert bound.runs[0].keys == (Key(0, 0, A, ((4, B),)), Key(4, 0, B, ((0, A),)))


def test_an_unknown_token_leaves_nothing_to_find():
    assert bind(plan_of(Count("z", 2)), IDS) == BoundTally(None, 2)
    bound = bind(plan_of(NextEdge("z", "a")), IDS)
    assert isinstance(bound, BoundPlan)
    assert bound.runs == bound.before == ()
