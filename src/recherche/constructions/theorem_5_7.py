"""Theorem 5.7: a linear RNN with one Transformer layer on top decides IsTree with a chain of thought of O(n) tokens.

One attention layer makes one round of lookups for each token, so what Theorem 4.7 looks up in a chain of layers is
here written down in between. After the data the text has two parts:

    numbering     : u c v c'      for each edge u ~ v in order: it is the c-th edge of u and the c'-th of v
    search        ? p v k x r     at v, entered from p: the k-th edge of v leads to x, and r is the parent of x, if any

In the numbering, u and v are copied from the prompt by position (after the j-th colon, positions 3j - 1 and 3j + 1),
and c is 1 plus the number written with the last earlier occurrence of u. In the search, x is found by matching (v, k)
with the pairs (u, c) and (v, c'), and r by matching x with the v of an earlier line, which holds its p. FAILED stands
for none. A line's result decides the next line, through lags (p, v, k, x, r are 4, 3, 2, 1, 0 back):

    x = p                           skip        ? p v k+1                that is the edge back to the parent
    x FAILED, p FAILED              finish      YES or NO
    x FAILED                        climb       ? g p i+1                g is the parent of p, and {p, v} the i-th edge
                                                                         of p: two more lookups
    r not FAILED, or x = 1          cycle       NO                       x has been visited and is not the parent
    else                            enter       ? v x 1

A vertex of degree d is asked d + 1 times, so the text has 5m + 6(2m + n) + O(1) tokens, at most 23n for a tree. At
the end the answer is YES iff as many vertices were entered, besides the root, as there are edges.

FAILED or a number, whichever a lookup has found: the logits 2xi - i^2 of the numbers i are at most -1 for x = 0, and
the largest is x^2, at least 1, for x >= 1. So a logit of 1/2 for FAILED wins exactly if x = 0.

Reference: Wen, Dang & Lyu (2024), Theorem 5.7 and Appendix C.13, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Case, Construction, Sizes, Suite
from recherche.constructions.graph_problems import Edges, graph_cases
from recherche.constructions.layout import Hybrid
from recherche.constructions.program import Forms, Program
from recherche.tasks.symbols import EDGE
from recherche.vocab import BEGIN, END_OF_DATA, FAILED, NO, YES

COLON, ASK = ":", "?"
ALWAYS = Affine.of(1)


@final
@dataclass(slots=True)
class _Text:
    """The last tokens of the text, as lags."""

    p: Program

    def number(self, back: int) -> Affine:
        """The number `back` tokens ago."""
        return self.p.lag(self.p.number, back, name="number")

    def colon(self, back: int) -> Affine:
        """1 if the colon stood `back` tokens ago."""
        return self.p.lag(self.p.special(COLON), back, name=COLON)

    def ask(self, back: int) -> Affine:
        """1 if the question mark stood `back` tokens ago."""
        return self.p.lag(self.p.special(ASK), back, name=ASK)

    @property
    def line_of_edge(self) -> Affine:
        """1 at the last token of `: u c v c'`, where u, c, v, c' are 3, 2, 1, 0 back."""
        return self.colon(4)


def hybrid_tour_program(capacity: int) -> Program:
    """The numbering and the search: three recurrent blocks and one Transformer block."""
    specials = (BEGIN, END_OF_DATA, EDGE, COLON, ASK, FAILED, YES, NO)
    p = Program("istree-hybrid", specials, capacity, Hybrid(recurrent=3))
    text = _Text(p)
    m = p.running_sum(p.special(EDGE), name="m", high=capacity)
    j = p.running_sum(p.special(COLON), name="j", high=capacity)
    numbered = p.is_zero(m - j, name="all numbered")
    _emit_numbering(p, text, j, numbered)
    _emit_search(p, text, m, numbered)
    return p


def _emit_numbering(p: Program, text: _Text, j: Affine, numbered: Affine) -> None:
    place = p.choose((text.colon(0), 3 * j - 2), (text.colon(2), 3 * j), name="place")
    end = p.match(keys=p.position - 1, queries=place, values=p.number, name="end of edge j")
    written = p.assume(text.colon(2) + text.colon(4), 0, 1, because="a line of the numbering has one colon")
    count = p.match(
        keys=text.number(1), queries=p.number, values=p.number, where=written, select="last", name="edges so far"
    )
    p.emit(COLON, when=p.special(END_OF_DATA))
    for back in (0, 2):
        p.emit_number(end, when=text.colon(back))
        p.emit_number(count + 1, when=text.colon(back + 1))
    p.emit(COLON, when=(text.line_of_edge, 1 - numbered))
    p.emit(ASK, when=(text.line_of_edge, numbered))


def _emit_search(p: Program, text: _Text, m: Affine, numbered: Affine) -> None:
    parent, x, r = text.number(4), text.number(1), p.number
    no_x, no_parent = p.is_zero(x, name="x FAILED"), p.is_zero(parent, name="p FAILED")
    no_r, is_root = p.is_zero(r, name="r FAILED"), p.is_zero(x - 1, name="x = 1")
    back = p.is_zero(x - parent, name="x = p")
    decided = text.ask(5)
    start = p.all_of(text.line_of_edge, numbered, name="start")
    finish = p.all_of(decided, no_x, no_parent, name="finish")
    climb = p.all_of(decided, no_x, 1 - no_parent, name="climb")
    skip = p.all_of(decided, 1 - no_x, back, name="skip")
    enter = p.all_of(decided, 1 - no_x, 1 - back, no_r, 1 - is_root, name="enter")
    moves = p.assume(climb + skip + enter, 0, 1, because="a line has one outcome")
    p.emit(ASK, when=moves)
    p.emit(NO, when=p.assume(decided - finish - moves, 0, 1, because="a line has one outcome"))
    _emit_line(p, text, {"start": start, "climb": climb, "skip": skip, "enter": enter})
    missing = m - p.running_sum(enter, name="entered", high=p.capacity)
    p.emit_logit(YES, 2 - 2 * missing, when=finish)
    p.emit(NO, when=finish)


def _emit_line(p: Program, text: _Text, cases: dict[str, Affine]) -> None:
    """Write p, v, k, x and r of a line that starts in one of these cases; the last line moves away as it is written."""
    number = text.number

    def at(case: str, slot: int) -> Affine:
        return p.lag(cases[case], slot, name=case)

    of_whom = p.choose((text.ask(0), number(5)), (text.ask(4), number(0)), name="of whom")
    entered_from = p.match(keys=p.number, queries=of_whom, values=number(1), where=text.ask(2), name="parent")
    p.emit(FAILED, when=at("start", 1))
    p.emit_number(number(4), when=at("enter", 1))
    p.emit_number(number(5), when=at("skip", 1))
    _emit_found(p, entered_from, when=at("climb", 1))

    p.emit_number(ALWAYS, when=at("start", 2))
    p.emit_number(number(3), when=at("enter", 2))
    p.emit_number(number(5), when=at("skip", 2))
    p.emit_number(number(6), when=at("climb", 2))

    edge = text.line_of_edge
    ends, numbers = (number(3), number(1)), (number(2), number(0))
    number_of_edge = p.match(
        keys=ends, queries=(p.number, number(6)), values=numbers[0], where=edge, name="number of edge, u first"
    ) + p.match(
        keys=ends[::-1], queries=(p.number, number(6)), values=numbers[1], where=edge, name="number of edge, v first"
    )
    p.emit_number(ALWAYS, when=at("start", 3))
    p.emit_number(ALWAYS, when=at("enter", 3))
    p.emit_number(number(5) + 1, when=at("skip", 3))
    p.emit_number(number_of_edge + 1, when=at("climb", 3))

    neighbour = p.match(
        keys=(ends[0], numbers[0]), queries=(number(1), p.number), values=ends[1], where=edge, name="neighbour of u"
    ) + p.match(
        keys=(ends[1], numbers[1]), queries=(number(1), p.number), values=ends[0], where=edge, name="neighbour of v"
    )
    _emit_found(p, neighbour, when=text.ask(3))
    _emit_found(p, entered_from, when=text.ask(4))


def _emit_found(p: Program, found: Affine, *, when: Forms) -> None:
    """The number that a lookup has found, or FAILED for 0."""
    p.emit_number(found, when=when)
    p.emit_logit(FAILED, Affine.of(Fraction(1, 2)), when=when)


def reference_text(edges: Edges, n: int) -> tuple[str, ...]:
    """The completion by an ordinary depth-first search over adjacency lists."""
    neighbours: dict[int, list[int]] = {vertex: [] for vertex in range(1, n + 1)}
    text: list[str] = []
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
        text += [COLON, str(u), str(len(neighbours[u])), str(v), str(len(neighbours[v]))]
    parents: dict[int, int] = {1: 0}

    def named(vertex: int) -> str:
        return str(vertex) if vertex else FAILED

    at, k = 1, 1
    while at:
        x = neighbours[at][k - 1] if k <= len(neighbours[at]) else 0
        text += [ASK, named(parents[at]), str(at), str(k), named(x), named(parents.get(x, 0))]
        if not x:
            k = neighbours[parents[at]].index(at) + 2 if parents[at] else 0
            at = parents[at]
        elif x == parents[at]:
            k += 1
        elif x in parents:
            return (*text, NO)
        else:
            parents[x] = at
            at, k = x, 1
    return (*text, YES if len(parents) == len(edges) + 1 else NO)


def _case_of(edges: Edges, n: int) -> Case:
    prompt = [token for u, v in edges for token in (str(u), EDGE, str(v))]
    return Case((BEGIN, *prompt, END_OF_DATA), reference_text(edges, n))


def _suites(sizes: Sizes) -> Iterator[Suite]:
    for n, exhaustive, cases in graph_cases(sizes, _case_of):
        capacity = max(len(case.text) for case in cases)
        yield Suite(program=hybrid_tour_program(capacity), cases=cases, n=n, exhaustive=exhaustive)


CONSTRUCTIONS = (
    Construction(
        name="istree-hybrid",
        theorem="5.7",
        architecture="hybrid",
        statement="A linear RNN with one Transformer layer on top decides IsTree with O(n) tokens of chain of thought.",
        program=hybrid_tour_program,
        suites=_suites,
        sizes=Sizes(4, ((8, 6), (16, 6), (32, 3))),
        full_sizes=Sizes(5, ((8, 20), (16, 20), (32, 20), (64, 10), (128, 5))),
        example_size=4,
    ),
)
