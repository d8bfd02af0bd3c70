"""Theorem 4.8: a Transformer of O(C) parameters simulates an RNN whose step is a circuit of C gates, gate by gate.

    prompt  <s> x1 ... xn <d>      block  x g1 ... gC      the token the RNN reads, then the values of all its gates

The first n blocks copy the prompt's tokens; after them every block begins with the token that the RNN wrote, until
that is an answer. So the text has C + 1 tokens for each step of the RNN. Let b be the number of tokens since the
block began. The token at b < C computes gate b + 1, whose operands have fixed places: another gate of the block, the
bits of the block's token, or a gate of the block before, C + 1 tokens back, that holds a bit of the old state.
(Before the first block nothing is found there, and the state is 0.)

    layer 2   begin: the last token of the RNN's alphabet, by a match; how many of them there are, as 1 / (count + 1)
    layer 3   the count as an integer; feed-forward: [b = j] for each j, and with them the operands' positions
    layer 4   the operands, by position: a gate's value, or a bit of a token
    layer 5   nothing; feed-forward: AND, XOR or the constant, by one row for each kind; or the next block's token

There are C + 1 tests [b = j], and everything else is a sum over them: O(C) parameters. The block's number would be a
quotient of the position by C + 1, which no feed-forward layer of bounded size computes; here the count of the RNN's
tokens gives it. With c of them so far, k = c - n blocks have begun, and the next one copies the token at k + 2.

Reference: Wen, Dang & Lyu (2024), Theorem 4.8 and Appendix C.10, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from recherche._rng import numpy_generator
from recherche.constructions.affine import Affine
from recherche.constructions.circuits import CircuitRNN, FixedPointRNN, random_circuit
from recherche.constructions.construction import Case, Construction, Sizes, Suite
from recherche.constructions.layout import Transformer
from recherche.constructions.program import Program
from recherche.vocab import BEGIN, END_OF_DATA, NO, YES

TRUE, FALSE = "true", "false"
ALWAYS = Affine.of(1)


@final
@dataclass(frozen=True, slots=True)
class _Operand:
    """Where a wire is found: how far from the block's begin, and which bit of a token (None: the value of a gate)."""

    offset: int
    bit: int | None


def _operand(rnn: CircuitRNN, wire: int) -> _Operand:
    if wire < rnn.n_state:
        return _Operand(rnn.state_gates[wire] + 1 - (len(rnn.gates) + 1), None)
    if wire < rnn.n_state + rnn.n_bits:
        return _Operand(0, wire - rnn.n_state)
    return _Operand(wire - rnn.n_state - rnn.n_bits + 1, None)


def circuit_program(rnn: CircuitRNN, capacity: int) -> Program:
    """The Transformer that carries out the circuit."""
    p = Program("rnn-transformer", (BEGIN, END_OF_DATA, TRUE, FALSE, *rnn.alphabet), capacity, Transformer())
    data_end, token = p.special(END_OF_DATA), p.one_of(rnn.alphabet)
    read = p.match(keys=data_end, queries=ALWAYS, values=data_end, name="data read")
    in_block = p.assume(read - data_end, 0, 1, because="<d> itself has been read")
    begin = p.match(keys=token, queries=ALWAYS, values=p.position, select="last", name="begin")
    phases = [p.is_zero(p.position - begin - j, name=f"b = {j}") for j in range(len(rnn.gates) + 1)]
    _emit_gate(p, rnn, begin, phases, in_block)
    _emit_token(p, rnn, p.assume(data_end + in_block, 0, 1, because="a token is of one kind"), phases[-1])
    return p


def _emit_gate(p: Program, rnn: CircuitRNN, begin: Affine, phases: list[Affine], in_block: Affine) -> None:
    """The next gate's value, from its operands."""
    left = _fetch(p, rnn, [_operand(rnn, gate.left) for gate in rnn.gates], begin, phases)
    right = _fetch(p, rnn, [_operand(rnn, gate.right) for gate in rnn.gates], begin, phases)

    def of_kind(kind: str) -> Affine:
        return _any(p, [phase for phase, gate in zip(phases, rnn.gates, strict=False) if gate.kind == kind])

    computing = (in_block, 1 - phases[-1])
    p.emit_logit(FALSE, Affine.of(Fraction(1, 2)), when=computing)
    p.emit(TRUE, when=(in_block, of_kind("one")))
    p.emit(TRUE, when=(in_block, of_kind("and"), left, right))
    p.emit(TRUE, when=(in_block, of_kind("xor"), left, 1 - right))
    p.emit(TRUE, when=(in_block, of_kind("xor"), 1 - left, right))


def _any(p: Program, phases: list[Affine]) -> Affine:
    return p.assume(sum(phases, Affine.of(0)), 0, 1, because="b has one value")


def _fetch(p: Program, rnn: CircuitRNN, operands: list[_Operand], begin: Affine, phases: list[Affine]) -> Affine:
    """The operand of the next gate: one look at the position where it stands, for each kind of value."""
    offset = sum((phase * operand.offset for phase, operand in zip(phases, operands, strict=False)), Affine.of(0))
    lowest, highest = (choose(0, *(operand.offset for operand in operands)) for choose in (min, max))
    place = begin + p.assume(offset, lowest, highest, because="b has one value") - 1
    rows = []
    for bit in sorted({operand.bit for operand in operands}, key=lambda bit: -1 if bit is None else bit):
        ones = [token for i, token in enumerate(rnn.alphabet) if bit is not None and i >> bit & 1]
        value = p.special(TRUE) if bit is None else p.one_of(ones)
        found = p.match(keys=p.position - 1, queries=place, values=value, name=f"operand, bit {bit}")
        uses = [phase for phase, operand in zip(phases, operands, strict=False) if operand.bit == bit]
        rows.append((_any(p, uses), found))
    return p.choose(*rows, name="operand")


def _emit_token(p: Program, rnn: CircuitRNN, between: Affine, last: Affine) -> None:
    """After a block, or at <d>: the prompt's next token, or what the RNN has put out."""
    end = p.match(keys=p.special(END_OF_DATA), queries=ALWAYS, values=p.position, name="position of <d>")
    count = p.count_inverse(keys=p.one_of(rnn.alphabet), queries=ALWAYS, name="1/(c+1)")
    plus_one = p.invert(count, name="c+1")
    more = p.is_nonnegative(2 * end - 4 - plus_one, name="prompt has more")
    copied = p.match(
        keys=p.position - 1, queries=plus_one - end + 2, values=p.code_of(rnn.alphabet), name="next of prompt"
    )
    p.emit_code(rnn.alphabet, copied, when=p.special(END_OF_DATA))
    p.emit_code(rnn.alphabet, copied, when=(between, last, more))
    n_gates = len(rnn.gates)
    bits = [p.copy(p.special(TRUE), n_gates - 1 - gate, name=f"gate {gate + 1}") for gate in rnn.output_gates]
    output = sum((bit * (1 << i) for i, bit in enumerate(bits)), Affine.of(0))
    p.emit_code(rnn.alphabet, output, when=(between, last, 1 - more))


def circuit_case(rnn: CircuitRNN, prompt: tuple[str, ...], *, num_outputs: int) -> Case:
    """The text of the RNN itself, with all its gates, until it answers or has written `num_outputs` tokens."""
    text: list[str] = []
    state, token, waiting = (0,) * rnn.n_state, "", list(prompt)
    written = 0
    while written < num_outputs:
        if waiting:
            token = waiting.pop(0)
        else:
            written += 1
        text.append(token)
        if token in (YES, NO) and written:
            break
        values, state, token = rnn.step(state, token)
        text += [TRUE if value else FALSE for value in values]
    return Case((BEGIN, *prompt, END_OF_DATA), tuple(text))


def _suite(rnn: CircuitRNN, prompts: list[tuple[str, ...]], *, exhaustive: bool) -> Suite:
    cases = [circuit_case(rnn, prompt, num_outputs=3) for prompt in prompts]
    capacity = max(len(case.text) for case in cases)
    n = max(len(prompt) for prompt in prompts)
    return Suite(program=circuit_program(rnn, capacity), cases=cases, n=n, exhaustive=exhaustive)


FIXED_POINT = FixedPointRNN(bits=5, shift=(1,), inputs=((9,), (-6,)))
"""h' = R_5(R_5(h / 2) + b[x]) with b = 9/4 for a and -3/2 for b: it rounds, and it saturates after a few a's."""


def _suites(sizes: Sizes) -> Iterator[Suite]:
    """The R_p RNN on every word of a and b up to a length; random circuits of up to n gates."""
    if sizes.exhaustive:
        words = [
            tuple("ab"[i >> k & 1] for k in range(n)) for n in range(1, sizes.exhaustive + 1) for i in range(1 << n)
        ]
        yield _suite(FIXED_POINT.compile(), words, exhaustive=True)
    for n_gates, count in sizes.sampled:
        generator = numpy_generator(n_gates, "random circuits")
        for _ in range(count):
            size = int(generator.integers(max(2, n_gates // 2), n_gates + 1))
            rnn = random_circuit(generator, n_state=int(generator.integers(1, 4)), n_gates=size)
            length = int(generator.integers(1, 6))
            yield _suite(rnn, [tuple(generator.choice(["a", "b"], size=length).tolist())], exhaustive=False)


CONSTRUCTIONS = (
    Construction(
        name="rnn-transformer",
        theorem="4.8",
        architecture="transformer",
        statement="A Transformer of O(C) parameters simulates an RNN whose step is a circuit of C gates.",
        program=lambda capacity: circuit_program(FIXED_POINT.compile(), capacity),
        suites=_suites,
        sizes=Sizes(2, ((20, 10),)),
        full_sizes=Sizes(4, ((20, 50),)),
        precision_sizes=(),
    ),
)
