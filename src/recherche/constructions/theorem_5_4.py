"""Theorem 5.4: with in-context search, a linear RNN of constant size simulates any Turing machine, O(1) tokens a step.

    prompt   <s> 'w1' ... 'wn' <d>
    copying  <S> i+1 <E> 'wi'  c = 'wi' ;               for i = 1, 2, ...: the i-th symbol is token i + 1 of the prompt
             <S> n+2 <E> FAILED                         the word has ended: no searchable text follows <d>
    step     <S> c = <E> 'r'  c = 'w' ; D @q            read cell c, write w, move D, go to state q

<S> and <E> are <StartSearch> and <EndSearch>; the token after <E> is the retriever's, all others the model's.
The tape is the text: `c = 'w' ;` is a record, and the search `c =` returns the value of the last record of c, FAILED
if there is none: blank. The typed tokens and the record's own signs keep a number that is a cell from being taken for
anything else. All that the model must remember is at a fixed distance: at the result r the cell is 3 back and the
state 5 back (at the first step FAILED stands there, for the start state); from then on the case and the
transition's codes move through a window of ten tokens while the script is written. The linear unit holds those lags;
the transition table is one unit an entry of a feed-forward layer. Copying takes 8n + O(1) tokens, a step 11.

For example, a machine whose start state @first erases an a and goes right as @seek_a has the word aa, and the text is

    ... <S> 4 <E> FAILED  <S> 1 = <E> 'a'

The token is a result, because <E> precedes it and no number stands before <E>. The cell is the number 3 back, 1;
FAILED stands 5 back, for @first; the table has (@first, 'a') -> ('_', R, @seek_a). The next six tokens are 1 = '_' ;
R @seek_a, each read off the codes of that transition at its own lag. Then a working state calls for <S>, and R, now 2
back, makes the next cell 1 + 1, where the 1 is the number 10 back: <S> 2 = <E>.

Reference: Wen, Dang & Lyu (2024), Theorem 5.4 and Appendix C.11, https://arxiv.org/abs/2402.18510
"""

from recherche.constructions.affine import Affine
from recherche.constructions.construction import Case, Construction, Sizes
from recherche.constructions.layout import LinearRNN
from recherche.constructions.program import Program
from recherche.constructions.turing import (
    Alphabets,
    Simulation,
    cells_left_of_word,
    emit_verdict,
    state_token,
    symbol_token,
    transition_table,
    verdict,
)
from recherche.errors import QueryError
from recherche.machines import MOVES, Machine, Run, shipped_machines
from recherche.queries import Index, LastWrite, Query
from recherche.vocab import BEGIN, END_OF_DATA, END_SEARCH, FAILED, NO, START_SEARCH, YES

EQUALS, SEMICOLON = "=", ";"


def read_query(tokens: tuple[str, ...]) -> Query:
    """`i`, the i-th token, or `c =`, the last value of cell c.

    Raises:
        QueryError: the tokens are neither.
    """
    match tokens:
        case (position,) if position.isdecimal():
            return Index(int(position))
        case (cell, "=") if cell.isdecimal():
            return LastWrite(cell)
    raise QueryError(f"A machine asks for `i` or `c =` with numbers i and c, got `{' '.join(tokens)}`.")


def machine_program(machine: Machine, capacity: int, left: int) -> Program:
    """The simulator of one machine, with `left` cells to the left of the word."""
    names = Alphabets(machine)
    control = (END_OF_DATA, START_SEARCH, END_SEARCH, FAILED, EQUALS, SEMICOLON)
    p = Program("machine-rag", (BEGIN, *control, *MOVES, YES, NO, *names.symbols, *names.states), capacity, LinearRNN())
    ended = p.lag(p.special(END_SEARCH), 1, name=END_SEARCH)
    by_position = p.lag(p.is_number(), 2, name="is number")
    symbol = p.code_of(names.symbols)
    copied = p.all_of(ended, by_position, p.one_of(names.symbols), name="copied")
    begun = p.all_of(ended, by_position, p.special(FAILED), name="begun")
    read = p.all_of(ended, 1 - by_position, name="read")
    _emit_copying(p, copied, symbol, left, at_once=_verdict_at_once(machine))
    _emit_script(p, begun, (START_SEARCH, Affine.of(1 + left), EQUALS, END_SEARCH))
    state = p.lag(p.code_of(names.states), 5, name="state")
    reads = {s: p.special(symbol_token(s)) for s in machine.symbols}
    reads[machine.blank] = p.one_of((symbol_token(machine.blank), FAILED))
    outcome = transition_table(p, machine, state, reads, when=(read,))

    def later(form: Affine, back: int, name: str) -> Affine:
        return p.lag(form, back, name=name)

    p.emit_number(p.lag(p.number, 3, name="number"), when=read)
    p.emit(EQUALS, when=later(read, 1, "read"))
    p.emit_code(names.symbols, later(outcome.write, 2, "write"), when=later(read, 2, "read"))
    p.emit(SEMICOLON, when=later(read, 3, "read"))
    p.emit_code(MOVES, later(outcome.move, 4, "move"), when=later(read, 4, "read"))
    p.emit_code(names.states, later(outcome.state, 5, "next state"), when=later(read, 5, "read"))
    p.emit(START_SEARCH, when=p.one_of(names.working))
    step = p.lag(p.special("R") - p.special("L"), 2, name="R - L")
    p.emit_number(p.lag(p.number, 10, name="number") + step, when=_still_working(p, names, 1))
    p.emit(EQUALS, when=_still_working(p, names, 2))
    p.emit(END_SEARCH, when=_still_working(p, names, 3))
    emit_verdict(p, names)
    return p


def _still_working(p: Program, names: Alphabets, back: int) -> Affine:
    """1 if a working state stood `back` tokens ago."""
    return p.lag(p.one_of(names.working), back, name="working")


def _verdict_at_once(machine: Machine) -> str | None:
    """The answer of a machine that starts halted."""
    if machine.start not in machine.halting:
        return None
    return YES if machine.start in machine.accept else NO


def _emit_copying(p: Program, copied: Affine, symbol: Affine, left: int, *, at_once: str | None) -> None:
    """Ask for the word's symbols one by one and write a record for each."""
    prompt_read = p.all_of(
        p.special(END_OF_DATA), 1 - p.lag(p.special(END_SEARCH), 1, name=END_SEARCH), name="prompt read"
    )
    if at_once is not None:
        p.emit(at_once, when=prompt_read)
        return
    _emit_script(p, prompt_read, (START_SEARCH, Affine.of(2), END_SEARCH))
    number_two_back = p.lag(p.number, 2, name="number")
    p.emit_number(number_two_back + (left - 1), when=copied)
    names = tuple(token for token in p.specials if token.startswith("'"))
    p.emit(EQUALS, when=p.lag(copied, 1, name="copied"))
    p.emit_code(names, p.lag(symbol, 2, name="symbol"), when=p.lag(copied, 2, name="copied"))
    p.emit(SEMICOLON, when=p.lag(copied, 3, name="copied"))
    p.emit(START_SEARCH, when=p.lag(copied, 4, name="copied"))
    p.emit_number(p.lag(p.number, 7, name="number") + 1, when=p.lag(copied, 5, name="copied"))
    p.emit(END_SEARCH, when=p.lag(copied, 6, name="copied"))


def _emit_script(p: Program, case: Affine, script: tuple[str | Affine, ...]) -> None:
    """Write constant tokens from the token on where `case` is 1."""
    for j, piece in enumerate(script):
        at = p.lag(case, j, name="case")
        if isinstance(piece, Affine):
            p.emit_number(piece, when=at)
        else:
            p.emit(piece, when=at)


def machine_case(machine: Machine, word: str, run: Run, left: int) -> Case:
    """The prompt and the text that follows it, from the word and the simulator's steps."""
    prompt = (BEGIN, *map(symbol_token, word), END_OF_DATA)
    if machine.start in machine.halting:
        return Case(prompt, (verdict(run),))
    text: list[str] = []
    for i, symbol in enumerate(map(symbol_token, word), start=1):
        text += [START_SEARCH, str(i + 1), END_SEARCH, symbol, str(i + left), EQUALS, symbol, SEMICOLON]
    text += [START_SEARCH, str(len(word) + 2), END_SEARCH, FAILED]
    written = set(range(1, len(word) + 1))
    for step in run.steps:
        cell = str(step.head + left)
        result = symbol_token(step.read) if step.head in written else FAILED
        written.add(step.head)
        text += [START_SEARCH, cell, EQUALS, END_SEARCH, result]
        text += [cell, EQUALS, symbol_token(step.write), SEMICOLON, step.move, state_token(step.next_state)]
    return Case(prompt, (*text, verdict(run)))


SIMULATION = Simulation(program=machine_program, case=machine_case, room=cells_left_of_word)

CONSTRUCTIONS = (
    Construction(
        name="machine-rag",
        theorem="5.4",
        architecture="rnn+search",
        statement="A linear RNN of constant size that may search its own text simulates any Turing machine.",
        program=lambda capacity: machine_program(shipped_machines()["increment"], capacity, 1),
        suites=SIMULATION.suites,
        sizes=Sizes(2, ((12, 2),)),
        full_sizes=Sizes(4, ((48, 2),)),
        read_query=read_query,
        example_size=2,
        precision_sizes=(2, 4, 6, 8),
    ),
)
