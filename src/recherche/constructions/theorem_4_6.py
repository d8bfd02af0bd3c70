"""Theorem 4.6 (upper half): constant-size Transformers solve Index, AR, c-gram retrieval and Counting without any CoT.

Index, 2 layers. The query is a position i; it stands, as a number, at the last token. Position k holds x_{k-1},
because <s> stands first. One head matches key k - 1 with the query's number and returns the number there: x_i.

AR and c-gram, 3 layers. One layer copies the c - 1 tokens before each token (the query's own gram as well); the next
matches them, in order, with the last c - 1 tokens, and returns the number at the first match. The gram that ends with
the query stands there too, but it matches from the position after it, which does not exist.

Counting, 3 layers. At the last token, t, the token before it is q. A head counts positions with number q: m in the
data, one for the query's q, and one more if t, as a number, equals q: e = [q = t]. It returns r = 1 / (m + 2 + e).
Then

    m > t   iff   m >= t + 1   iff   (t + 5/2 + e) r < 1,

and the argmax of YES = 2 - (t + 5/2 + e) r against NO = 1 takes that last decision. No product of unbounded numbers
is needed besides t r, which is less than 1 if m > t, and at most n otherwise.

Reference: Wen, Dang & Lyu (2024), Theorem 4.6 and Appendix C.6-C.8, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Case, Construction, Sizes, Suite
from recherche.constructions.layout import Transformer
from recherche.constructions.point_retrieval import AR, COUNTING, INDEX, RetrievalTask, cgram_task
from recherche.constructions.program import Program
from recherche.vocab import BEGIN, NO, YES


def index_program(capacity: int) -> Program:
    """x_i by matching positions."""
    p = Program("index-transformer", (BEGIN,), capacity, Transformer())
    p.emit_number(p.match(keys=p.position - 1, queries=p.number, values=p.number, name="answer"))
    return p


def cgram_program(capacity: int, c: int = 2) -> Program:
    """The token after the first copy of the last c - 1 tokens; associative recall for c = 2."""
    name = "ar-transformer" if c == 2 else f"{c}gram-transformer"
    p = Program(name, (BEGIN,), capacity, Transformer())
    before = [p.number, *(p.copy(p.number, back, name=f"{back} before") for back in range(1, c))]
    p.emit_number(p.match(keys=before[:0:-1], queries=before[-2::-1], values=p.number, name="answer"))
    return p


def counting_program(capacity: int) -> Program:
    """YES iff the token before the last occurs more often than the last one says."""
    p = Program("counting-transformer", (BEGIN, YES, NO), capacity, Transformer())
    q = p.copy(p.number, 1, name="q")
    same = p.is_zero(q - p.number, name="q = t")
    r = p.count_inverse(keys=p.number, queries=q, name="1 / (m + 2 + e)")
    p.emit_logit(YES, Affine.of(2))
    p.emit_product(YES, p.number + same + Fraction(5, 2), -r)
    p.emit(NO)
    return p


def retrieval_construction(
    task: RetrievalTask,
    program: Callable[[int], Program],
    *,
    theorem: str,
    architecture: str,
    statement: str,
) -> Construction:
    """A construction that answers at once, over the problems of one of the four tasks."""

    def suites(sizes: Sizes) -> Iterator[Suite]:
        for n, exhaustive, problems in task.groups(sizes):
            cases = [Case(problem.prompt, (problem.answer,)) for problem in problems]
            capacity = max(len(case.text) for case in cases)
            yield Suite(program=program(capacity), cases=cases, n=n, exhaustive=exhaustive)

    return Construction(
        name=program(8).name,
        theorem=theorem,
        architecture=architecture,
        statement=statement,
        program=program,
        suites=suites,
        sizes=Sizes(4, ((64, 20), (512, 20), (2048, 3))),
        full_sizes=Sizes(4, ((64, 20), (512, 20), (2048, 20), (16384, 20))),
        answers=(YES, NO) if task is COUNTING else (),
    )


CONSTRUCTIONS = tuple(
    retrieval_construction(
        task,
        program,
        theorem="4.6",
        architecture="transformer",
        statement=f"A Transformer of constant size answers {shown} at once, for contexts of any length.",
    )
    for task, program, shown in (
        (INDEX, index_program, "Index"),
        (AR, cgram_program, "associative recall"),
        (cgram_task(3), lambda capacity: cgram_program(capacity, 3), "3-gram retrieval"),
        (COUNTING, counting_program, "Counting"),
    )
)
