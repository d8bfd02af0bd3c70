"""Theorem 5.2: with in-context search, a linear RNN of constant size solves Index, AR, c-gram retrieval and Counting.

The model writes a regular expression, the retriever runs it on the text so far, and the model copies what came back.
Writing a fixed pattern with one or two tokens of the query in it needs no memory of the data: the model must know how
many tokens ago <StartSearch> stood (the phase), and what the last two numbers of the prompt were at that time. Both are
lags in the linear unit. One block:

    no <StartSearch> in the window      write <StartSearch>          (the last token of the prompt)
    phase j of the script               write its j-th token: a piece of the pattern, or the number of lag j + d, where
                                        d tokens before <StartSearch> the query's number stands
    after the result                    write it, as the answer      (Counting: YES, or NO if it is FAILED)

The patterns are those of `recherche.retrieval.templates`; a token stands for the space.

Reference: Wen, Dang & Lyu (2024), Theorem 5.2 and Appendix C.8, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterator, Sequence

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Case, Construction, Sizes, Suite
from recherche.constructions.layout import LinearRNN
from recherche.constructions.point_retrieval import AR, COUNTING, INDEX, Problem, RetrievalTask, cgram_task
from recherche.constructions.program import Program
from recherche.retrieval.session import SPACE, read_pattern
from recherche.vocab import BEGIN, END_SEARCH, FAILED, NO, START_SEARCH, YES

Script = Sequence[str | int]
"""Tokens of a pattern; an integer d stands for the d-th last number of the prompt."""

TOKEN = ("[^", SPACE, "]+")
"""One token of the text, `[^ ]+`."""

INDEX_SCRIPT: Script = ("^(?:", *TOKEN, SPACE, "){", 1, "}(", *TOKEN, ")", SPACE, "[^", SPACE, "]")
COUNTING_SCRIPT: Script = (
    *("^(?:(?:", *TOKEN, SPACE, ")*?", 2, SPACE, "){", 1, "}(?:", *TOKEN, SPACE, ")*?("),
    *(2, ")", SPACE, *TOKEN, SPACE, "[^", SPACE, "]"),
)


def cgram_script(c: int) -> Script:
    """The pattern for the token after a (c-1)-gram that is followed by at least c tokens; for c = 2, by two."""
    gram = [piece for d in range(c - 1, 0, -1) for piece in (d, SPACE)]
    tail = (SPACE, "[^", SPACE, "]") if c == 2 else ("(?:", SPACE, *TOKEN, f"){{{c - 1}}}")
    return ("(?:^|", SPACE, ")", *gram, "(", *TOKEN, ")", *tail)


def script_program(name: str, script: Script, capacity: int, *, answers: tuple[str, ...] = ()) -> Program:
    """The RNN that writes a script with the query's numbers in it, then the answer."""
    pieces = tuple(dict.fromkeys(piece for piece in script if isinstance(piece, str)))
    p = Program(name, (BEGIN, START_SEARCH, END_SEARCH, FAILED, *answers, *pieces), capacity, LinearRNN())
    phases = [p.lag(p.special(START_SEARCH), j, name=START_SEARCH) for j in range(len(script) + 3)]
    searching = p.assume(sum(phases[1:], phases[0]), 0, 1, because="a text has one search")
    p.emit(START_SEARCH, when=1 - searching)
    for j, piece in enumerate(script):
        if isinstance(piece, int):
            p.emit_number(p.lag(p.number, j + piece, name="number"), when=phases[j])
        else:
            p.emit(piece, when=phases[j])
    p.emit(END_SEARCH, when=phases[len(script)])
    _emit_answer(p, phases[-1], answers)
    return p


def _emit_answer(p: Program, found: Affine, answers: tuple[str, ...]) -> None:
    """After the search: the result itself, or the first answer if there is a result and the second if there is none."""
    if not answers:
        p.emit_number(p.number, when=found)
        return
    p.emit(answers[0], when=(found, 1 - p.special(FAILED)))
    p.emit(answers[1], when=(found, p.special(FAILED)))


def _completion(problem: Problem, script: Script) -> tuple[str, ...]:
    """The script with the query filled in, what the search must return, and the answer."""
    written = tuple(piece if isinstance(piece, str) else problem.prompt[-piece] for piece in script)
    results = {YES: problem.query[0], NO: FAILED}
    return (START_SEARCH, *written, END_SEARCH, results.get(problem.answer, problem.answer), problem.answer)


def search_construction(task: RetrievalTask, script: Script, *, shown: str) -> Construction:
    """A construction that writes one search, over the problems of one of the four tasks."""
    answers = (YES, NO) if task is COUNTING else ()
    name = f"{task.name}-rag"

    def suites(sizes: Sizes) -> Iterator[Suite]:
        for n, exhaustive, problems in task.groups(sizes):
            cases = [Case(problem.prompt, _completion(problem, script)) for problem in problems]
            program = script_program(name, script, max(len(case.text) for case in cases), answers=answers)
            yield Suite(program=program, cases=cases, n=n, exhaustive=exhaustive)

    return Construction(
        name=name,
        theorem="5.2",
        architecture="rnn+search",
        statement=f"A linear RNN of constant size answers {shown} with one search that it writes itself.",
        program=lambda capacity: script_program(name, script, capacity, answers=answers),
        suites=suites,
        sizes=Sizes(3, ((64, 10), (512, 10))),
        full_sizes=Sizes(4, ((64, 20), (512, 20))),
        answers=answers,
        read_query=read_pattern,
    )


_SCRIPTS: tuple[tuple[RetrievalTask, Script, str], ...] = (
    (INDEX, INDEX_SCRIPT, "Index"),
    (AR, cgram_script(2), "associative recall"),
    (cgram_task(3), cgram_script(3), "3-gram retrieval"),
    (COUNTING, COUNTING_SCRIPT, "Counting"),
)
CONSTRUCTIONS = tuple(search_construction(task, script, shown=shown) for task, script, shown in _SCRIPTS)
