from random import Random

import pytest

from recherche.retrieval.bind import bind
from recherche.retrieval.finder import find
from recherche.retrieval.index import HIDDEN, TokenIndex
from recherche.retrieval.plan import Anchor, Piece, Plan, Tail, Tally

A, B, C = range(3)
IDS = {"a": A, "b": B, "c": C}
AB = Piece(3, ((0, "a"), (1, "b")), ((1, 2),))
ANY = Piece(2, (), ((1, 0),))


def index(tokens: list[int]) -> TokenIndex:
    made = TokenIndex()
    for token in tokens:
        if token == HIDDEN:
            made.append_hidden()
        else:
            made.append([token])
    return made


def place(plan: Plan | Tally, tokens: list[int]) -> int | None:
    groups = find(bind(plan, IDS), index(tokens))
    return groups and groups[1][0]


CASES = {
    "first": (Plan((AB,)), [C, A, B, C, A, B, A], 3),
    "first but not at the start": (Plan((AB,), Anchor.INNER), [A, B, C, A, B, A], 5),
    "start": (Plan((AB,), Anchor.START), [A, B, C], 2),
    "not at the start": (Plan((AB,), Anchor.START), [C, A, B, C], None),
    "last": (Plan((AB,), Anchor.LAST), [A, B, C, A, B, A, B], 5),
    "at the end": (Plan((AB,), Anchor.FIRST, Tail.END), [A, B, C, A, B, A], 5),
    "not at the end": (Plan((AB,), Anchor.FIRST, Tail.END), [A, B, C, A], None),
    "more follows": (Plan((AB,), Anchor.FIRST, Tail.MORE), [A, B, C], None),
    "a hidden span follows": (Plan((AB,), Anchor.FIRST, Tail.MORE), [A, B, C, HIDDEN], 2),
    "no hidden span inside": (Plan((AB,)), [A, B, HIDDEN, A, B, C], 5),
    "after another": (Plan((Piece(1, ((0, "c"),), ((1, 0),)),), before=(AB,)), [C, A, B, C, B, C], 5),
    "nothing after another": (Plan((AB,), before=(AB,)), [A, B, C, C], None),
    "no other before": (Plan((AB,), before=(Piece(1, ((0, "c"),), ()),)), [A, B, A], None),
    "any tokens": (Plan((ANY,)), [A, HIDDEN, B, C], 2),
    "any tokens, last": (Plan((ANY,), Anchor.LAST), [A, B, C, HIDDEN, A], 1),
    "any tokens, none": (Plan((ANY,), Anchor.LAST), [A, HIDDEN, B], None),
    "any tokens, no room": (Plan((ANY,)), [A, HIDDEN, B], None),
    "any tokens of an empty text": (Plan((ANY,), Anchor.LAST), [], None),
    "unknown token": (Plan((Piece(1, ((0, "z"),), ((1, 0),)),)), [A], None),
    "tally": (Tally("a", 1), [A, B, A, B, B], 2),
    "tally too near the end": (Tally("a", 1), [A, B, A, B], None),
    "tally across a hidden span": (Tally("a", 1), [A, HIDDEN, A, B, B], None),
    "tally of too few": (Tally("a", 3), [A, B, A, B, B], None),
    "tally of an unknown token": (Tally("z", 0), [A, B, B], None),
}


@pytest.mark.parametrize(("plan", "tokens", "wanted"), CASES.values(), ids=CASES)
def test_finds_the_place_that_the_plan_describes(plan: Plan | Tally, tokens: list[int], wanted: int | None):
    assert place(plan, tokens) == wanted


def test_of_alternatives_at_the_same_place_the_first_wins():
    one, other = Piece(1, ((0, "a"),), ((1, 0),)), Piece(2, ((0, "a"),), ((2, 1),))
    assert find(bind(Plan((one, other)), IDS), index([A, B])) == {1: (0, 1)}
    assert find(bind(Plan((other, one)), IDS), index([A, B])) == {2: (1, 2)}
    assert find(bind(Plan((other, one), Anchor.LAST), IDS), index([A, B, A])) == {1: (2, 3)}


@pytest.mark.parametrize("anchor", [Anchor.FIRST, Anchor.LAST])
@pytest.mark.parametrize("tail", [Tail.OPEN, Tail.MORE])
def test_many_places_that_do_not_fit_give_the_same_answer_at_once(anchor: Anchor, tail: Tail):
    """Hundreds of near misses: a . . b where only some have an a at the far end too."""
    random = Random(1)
    tokens = [random.choice((A, A, A, B)) for _ in range(400)]
    for number in range(0, 400, 57):
        tokens[number] = HIDDEN
    piece = Piece(9, ((0, "a"), (4, "a"), (8, "c")), ((1, 0),))
    for end in (20, 150, 399):
        text = tokens.copy()
        text[end] = C
        starts = [p for p in range(len(text) - 8) if [text[p], text[p + 4], text[p + 8]] == [A, A, C]]
        shown = [p for p in starts if HIDDEN not in text[p : p + 9] and (tail is Tail.OPEN or p + 9 < len(text))]
        wanted = None if not shown else shown[0 if anchor is Anchor.FIRST else -1]
        assert place(Plan((piece,), anchor, tail), text) == wanted
