"""Theorem 5.6: a linear RNN with one Transformer layer on top solves Index, AR, c-gram retrieval and Counting at once.

What the Transformers of Theorem 4.6 compute below their last layer is local: the token before, the c - 1 tokens before.
A linear unit holds these as lags, h = x_{t-j}, by a shift. What is left is one lookup, and one attention layer does it.
So every program here is the one of Theorem 4.6 with `lag` in place of `copy`, in two layers.

Reference: Wen, Dang & Lyu (2024), Theorem 5.6 and Appendix C.12, https://arxiv.org/abs/2402.18510
"""

from fractions import Fraction

from recherche.constructions.affine import Affine
from recherche.constructions.layout import Hybrid
from recherche.constructions.point_retrieval import AR, COUNTING, INDEX, cgram_task
from recherche.constructions.program import Program
from recherche.constructions.theorem_4_6 import retrieval_construction
from recherche.vocab import BEGIN, NO, YES


def index_program(capacity: int) -> Program:
    """x_i by matching positions; the linear unit has nothing to do."""
    p = Program("index-hybrid", (BEGIN,), capacity, Hybrid(recurrent=1))
    p.emit_number(p.match(keys=p.position - 1, queries=p.number, values=p.number, name="answer"))
    return p


def cgram_program(capacity: int, c: int = 2) -> Program:
    """The token after the first copy of the last c - 1 tokens; associative recall for c = 2."""
    p = Program("ar-hybrid" if c == 2 else f"{c}gram-hybrid", (BEGIN,), capacity, Hybrid(recurrent=1))
    before = [p.lag(p.number, back, name="number") for back in range(c)]
    p.emit_number(p.match(keys=before[:0:-1], queries=before[-2::-1], values=p.number, name="answer"))
    return p


def counting_program(capacity: int) -> Program:
    """YES iff the token before the last occurs more often than the last one says."""
    p = Program("counting-hybrid", (BEGIN, YES, NO), capacity, Hybrid(recurrent=1))
    q = p.lag(p.number, 1, name="number")
    same = p.is_zero(q - p.number, name="q = t")
    r = p.count_inverse(keys=p.number, queries=q, name="1 / (m + 2 + e)")
    p.emit_logit(YES, Affine.of(2))
    p.emit_product(YES, p.number + same + Fraction(5, 2), -r)
    p.emit(NO)
    return p


CONSTRUCTIONS = tuple(
    retrieval_construction(
        task,
        program,
        theorem="5.6",
        architecture="hybrid",
        statement=f"A linear RNN of constant size with one Transformer layer on top answers {shown} at once.",
    )
    for task, program, shown in (
        (INDEX, index_program, "Index"),
        (AR, cgram_program, "associative recall"),
        (cgram_task(3), lambda capacity: cgram_program(capacity, 3), "3-gram retrieval"),
        (COUNTING, counting_program, "Counting"),
    )
)
