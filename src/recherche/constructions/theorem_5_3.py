"""Theorem 5.3: with in-context search, a linear RNN of constant size decides IsTree in O(n) tokens.

The model writes the retrieval trace that `recherche.tasks.is_tree_traces` defines, token for token the trace that
trained models learn; its grammar stands there. Nothing is remembered but the last ten tokens. That suffices, because
after each search whatever decides the next move stands at a fixed distance. Write <S> and <E> for <StartSearch> and
<EndSearch>, x for the result, and read backwards:

    x <E> ~ v <S>                   first edge of v, just entered by the record `p - v`      parent p is 7 back, v 3
    x <E> w ~ v <S> y               next edge of v after w                                   parent y is 6 back, v 4
    x <E> - v <S> y                 parent of v; y, 5 back, is the result before

In the second line y is the parent in both cases where this query is asked: either the edge found before led to the
parent (y = w = p) and is skipped, or the search has come back to v and has just asked for v's parent. In the third
line, y is v itself if v is a candidate to be entered, and FAILED (number 0) if the search goes back to v. <d> precedes
the first search, so the root's parent reads as 0 everywhere.

    result                                     case         what is written next (a, b are the case's numbers)
    an edge to the parent                      skip         <S> a ~ b <E>           a = v, b = parent
    an edge to another vertex x                check        <S> a - <E>             a = x
    FAILED, and v has a parent                 climb        <S> a - <E>             a = parent
    FAILED, and v is the root                  finish       YES or NO
    parent of the vertex climbed to            resume       <S> a ~ b <E>           a = v, b = the vertex left, 9 back
    FAILED for a candidate other than 1        enter        a - b <S> b ~ <E>       a = vertex that found b, b = v
    anything for another candidate             cycle        NO

Block 1 holds lags and its feed-forward finds v and its parent, block 2 compares, block 3's feed-forward finds the
case and its numbers, and block 4 holds these, as lags, while the script is written. At the end the answer is YES iff
as many records have been written as there are edges: their difference is a running sum.

Reference: Wen, Dang & Lyu (2024), Theorem 5.3, Algorithm 2 and Appendix C.10, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterator

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Construction, Sizes, Suite
from recherche.constructions.graph_problems import graph_cases, task_case
from recherche.constructions.layout import LinearRNN
from recherche.constructions.program import Program
from recherche.queries import Query
from recherche.tasks import IsTree, RetrievalTour
from recherche.tasks.symbols import EDGE, RECORD, SYMBOLS
from recherche.vocab import END_OF_DATA, END_SEARCH, NO, START_SEARCH, YES

MOST_VERTICES = 1 << 14

A, B = "a", "b"
"""The two numbers of a case, in a script."""


def search_tour_program(capacity: int) -> Program:
    """The depth-first search by searches, four blocks."""
    p = Program("istree-rag", SYMBOLS, capacity, LinearRNN())

    def token(symbol: str, back: int) -> Affine:
        return p.lag(p.special(symbol), back, name=symbol)

    def number(back: int) -> Affine:
        return p.lag(p.number, back, name="number")

    first = (token(END_SEARCH, 1), token(EDGE, 2))
    following = (token(END_SEARCH, 1), token(EDGE, 3))
    ascent = (token(END_SEARCH, 1), token(RECORD, 2))
    v = p.choose((first, number(3)), (following, number(4)), name="v")
    parent = p.choose((first, number(7)), (following, number(6)), name="parent")
    finder = p.choose((token(EDGE, 7), number(8)), (1 - token(EDGE, 7), number(9)), name="finder")
    none = p.is_zero(p.number, name="no result")
    climbed = p.is_zero(number(5), name="climbed")
    candidate_is_root = p.is_zero(number(5) - 1, name="candidate is root")
    edge = (token(END_SEARCH, 1), 1 - token(RECORD, 2))
    to_parent = p.is_zero(p.number - parent, name="to parent")
    at_root = p.is_zero(parent, name="at root")

    skip, check = (*edge, 1 - none, to_parent), (*edge, 1 - none, 1 - to_parent)
    climb, finish = (*edge, none, 1 - at_root), (*edge, none, at_root)
    resume, enter = (*ascent, climbed), (*ascent, 1 - climbed, none, 1 - candidate_is_root)
    a = p.choose((skip, v), (check, p.number), (climb, parent), (resume, number(3)), (enter, finder), name="a")
    b = p.choose((skip, parent), (resume, number(9)), (enter, number(5)), name="b")

    numbers = {A: a, B: b}
    _emit_script(p, p.special(END_OF_DATA), (START_SEARCH, "1", EDGE, END_SEARCH), numbers)
    _emit_script(p, _any_of(p, "asks edge", skip, resume), (START_SEARCH, A, EDGE, B, END_SEARCH), numbers)
    _emit_script(p, _any_of(p, "asks parent", check, climb), (START_SEARCH, A, RECORD, END_SEARCH), numbers)
    entering = _any_of(p, "enter", enter)
    _emit_script(p, entering, (A, RECORD, B, START_SEARCH, B, EDGE, END_SEARCH), numbers)
    p.emit(NO, when=(*ascent, 1 - climbed, 1 - entering))
    read = p.all_of(p.special(EDGE), 1 - token(START_SEARCH, 2), name="edge read")
    recorded = p.all_of(p.special(RECORD), 1 - token(START_SEARCH, 2), name="record written")
    missing = p.running_sum(read - recorded, name="edges without record")
    p.emit_logit(YES, 2 - 2 * missing, when=finish)
    p.emit(NO, when=finish)
    return p


def _any_of(p: Program, name: str, *cases: tuple[Affine, ...]) -> Affine:
    """1 in one of these cases, of which at most one holds."""
    return p.choose(*((case, Affine.of(1)) for case in cases), name=name)


def _emit_script(p: Program, case: Affine, script: tuple[str, ...], numbers: dict[str, Affine]) -> None:
    """Write a script from the token on where `case` is 1; its numbers were set at that token."""
    for j, piece in enumerate(script):
        at = p.lag(case, j, name="case") if j else case
        if piece in numbers:
            p.emit_number(p.lag(numbers[piece], j, name=piece) if j else numbers[piece], when=at)
        elif piece.isdecimal():
            p.emit_number(Affine.of(int(piece)), when=at)
        else:
            p.emit(piece, when=at)


def read_query(tokens: tuple[str, ...]) -> Query:
    """What a query of the trace asks.

    Raises:
        QueryError: it has none of the three forms.
    """
    return IsTree(n_nodes=MOST_VERTICES).read_query(tokens)


def _suites(sizes: Sizes) -> Iterator[Suite]:
    for n, exhaustive, cases in graph_cases(sizes, lambda edges, n: task_case(RetrievalTour(), edges, n)):
        capacity = max(len(case.text) for case in cases)
        yield Suite(program=search_tour_program(capacity), cases=cases, n=n, exhaustive=exhaustive)


CONSTRUCTIONS = (
    Construction(
        name="istree-rag",
        theorem="5.3",
        architecture="rnn+search",
        statement="A linear RNN of constant size decides IsTree with O(n) tokens, searches and records of its own.",
        program=search_tour_program,
        suites=_suites,
        sizes=Sizes(4, ((8, 6), (16, 6), (32, 3))),
        full_sizes=Sizes(4, ((8, 20), (16, 20), (32, 20), (64, 10))),
        read_query=read_query,
        example_size=4,
        precision_sizes=(4, 6, 8, 12),
    ),
)
