"""Theorem 4.7 (upper half): a Transformer of constant size decides IsTree with a chain of thought of O(n) tokens.

    prompt              <s> u1 ~ v1 ... um ~ vm <d>
    chain of thought    the Euler tour of a depth-first search, then YES or NO

The search starts at vertex 1, takes edges in input order and stops, with NO, when the next vertex has been visited
and is not the parent. Let v be the current token, u the one before it. Everything that decides the next token is
looked up:

    occurrence numbers   the edge whose second end is here is the c-th edge of that end, and the c'-th of its first end:
                         counts of equal numbers, inverted, one of them copied from two tokens back (layers 2-4)
    parent of v          the token before the first occurrence of v in the tour; 0 for the root, which <d> precedes
    rank                 0 if v has just been entered (u is its parent), else the occurrence number, at v, of the
                         edge {v, u} that the search came back through: a match on both ends, in both orders (layer 5)
    next                 the other end of v's edge number rank + 1, and of number rank + 2: a match on the vertex and
                         the occurrence number, in both orders (layer 6)
    seen                 whether that vertex stands in the tour (layer 7)

The next vertex is the first of the two that is not the parent, because at most one edge leads to the parent. If there
is none, the search goes back to the parent; at the root it is over. The tour then has 2k - 1 vertices, k - 1 the
number of edges it walked; it walked all m edges iff the tour ends at position (3m + 2) + (2m + 1), and then the graph
is connected and has no cycle: YES. An edge elsewhere makes the tour too short: NO. The end is compared with m itself,
not with 3n, because a graph with m != n - 1 may have a tour that ends at the position of a tree's.

For example, after

    <s> 2 ~ 4 3 ~ 2 3 ~ 1 <d> 1 3 2 4 2

v is 2 and u is 4. The first 2 of the tour stands after 3, so the parent of v is 3, and v has not just been entered. The
edge {2, 4} is the 1st of vertex 2: the rank is 1. The 2nd edge of vertex 2 leads to 3, and there is no 3rd: the next
vertices are 3 and 0. The first is the parent and the second is none, so the search goes back: the next token is 3.

Reference: Wen, Dang & Lyu (2024), Theorem 4.7, Algorithm 1 and Appendix C.9, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterator

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Construction, Sizes, Suite
from recherche.constructions.graph_problems import graph_cases, task_case
from recherche.constructions.layout import Transformer
from recherche.constructions.program import Program
from recherche.tasks import EulerTour
from recherche.tasks.symbols import EDGE
from recherche.vocab import BEGIN, END_OF_DATA, NO, YES

ALWAYS = Affine.of(1)


def tour_program(capacity: int) -> Program:
    """The depth-first search, seven layers."""
    p = Program("istree-transformer", (BEGIN, END_OF_DATA, EDGE, YES, NO), capacity, Transformer())
    v = p.number
    data_end = p.special(END_OF_DATA)
    read = p.match(keys=data_end, queries=ALWAYS, values=data_end, name="data read")
    touring = p.assume(read - data_end, 0, 1, because="<d> itself has been read")
    u = p.copy(v, 1, name="u")
    second = p.copy(p.special(EDGE), 1, name="second end")
    first_end = p.copy(v, 2, name="first end")
    plus_one = p.invert(p.count_inverse(keys=v, queries=v, name="1/(c+1)"), name="c+1")
    m_plus_one = p.invert(p.count_inverse(keys=p.special(EDGE), queries=ALWAYS, name="1/(m+1)"), name="m+1")
    parent = p.match(keys=v, queries=v, values=u, where=touring, name="parent")
    entered = p.is_zero(u - parent, name="entered")
    c_second, c_first = plus_one - 1, p.copy(plus_one, 2, name="c'+1") - 1

    came_by = p.match(
        keys=(first_end, v), queries=(v, u), values=c_first, where=second, unless=entered, name="rank (v first)"
    ) + p.match(
        keys=(first_end, v), queries=(u, v), values=c_second, where=second, unless=entered, name="rank (v second)"
    )
    following = [
        p.match(keys=(first_end, c_first), queries=(v, came_by + k), values=v, where=second, name=f"next {k} (v first)")
        + p.match(
            keys=(v, c_second), queries=(v, came_by + k), values=first_end, where=second, name=f"next {k} (v second)"
        )
        for k in (1, 2)
    ]
    _emit_move(p, touring, parent, following, m_plus_one)
    return p


def _emit_move(p: Program, touring: Affine, parent: Affine, following: list[Affine], m_plus_one: Affine) -> None:
    """The table of the next token."""
    to_parent = p.is_zero(following[0] - parent, name="parent is next")
    none = [p.is_zero(vertex, name=f"no next {k}") for k, vertex in enumerate(following, start=1)]
    root = p.is_zero(parent, name="root")
    complete = p.is_zero(p.position + 2 - 5 * m_plus_one, name="all edges walked")
    seen = [
        p.match(keys=p.number, queries=vertex, values=touring, where=touring, name=f"seen {k}")
        for k, vertex in enumerate(following, start=1)
    ]
    p.emit_number(ALWAYS, when=p.special(END_OF_DATA))
    take_first, take_second = (touring, 1 - none[0], 1 - to_parent), (touring, 1 - none[0], to_parent, 1 - none[1])
    for vertex, known, flags in zip(following, seen, (take_first, take_second), strict=True):
        p.emit_number(vertex, when=(*flags, 1 - known))
        p.emit(NO, when=(*flags, known))
    p.emit_number(parent, when=(touring, none[0], 1 - root))
    p.emit_number(parent, when=(touring, 1 - none[0], to_parent, none[1]))
    p.emit(YES, when=(touring, none[0], root, complete))
    p.emit(NO, when=(touring, none[0], root, 1 - complete))


def _suites(sizes: Sizes) -> Iterator[Suite]:
    for n, exhaustive, cases in graph_cases(sizes, lambda edges, n: task_case(EulerTour(), edges, n)):
        capacity = max(len(case.text) for case in cases)
        yield Suite(program=tour_program(capacity), cases=cases, n=n, exhaustive=exhaustive)


CONSTRUCTIONS = (
    Construction(
        name="istree-transformer",
        theorem="4.7",
        architecture="transformer",
        statement="A Transformer of constant size decides IsTree by writing the tour of a depth-first search.",
        program=tour_program,
        suites=_suites,
        sizes=Sizes(4, ((16, 10), (64, 5))),
        full_sizes=Sizes(5, ((64, 20), (256, 5), (1024, 2))),
        example_size=4,
    ),
)
