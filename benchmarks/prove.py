"""How the cost of a token grows with the text, for the theorems' own models: from 1,000 to 16,000 tokens.

A long trace of each kind of model is cut at several lengths. From there the decoding loop writes on, its searches
included, and must write what the oracle wrote. Growth compares the cost of a token with that at the length before: a
recurrent model's stays, an attention layer's is at most proportional, so that T tokens cost O(T) and O(T^2). The
reference for tokens per second is recomputing the prefix for each token.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import torch

from benchmarks.harness import Line
from recherche._rng import numpy_generator
from recherche.constructions.catalogue import CONSTRUCTIONS, SIMULATIONS
from recherche.constructions.compiler import compile_program
from recherche.constructions.construction import Case, Construction
from recherche.constructions.model import PaperModel
from recherche.constructions.proof import SEARCHES
from recherche.constructions.theorem_4_8 import FIXED_POINT, circuit_case, circuit_program
from recherche.constructions.turing import palindromes_and_carries
from recherche.decoding import generate
from recherche.machines import shipped_machines
from recherche.retrieval import Retriever, SearchSession
from recherche.vocab import START_SEARCH

LENGTHS = (1000, 4000, 16000)
NUM_TOKENS = 110
REPEATS = 3


@final
@dataclass(frozen=True, slots=True)
class Trace:
    """A model and one long text that it writes."""

    construction: Construction
    model: PaperModel
    case: Case

    def cut(self, length: int) -> int:
        """The last place up to `length` where no query is open: before a <StartSearch>, if there are any."""
        text = self.case.text
        if self.construction.read_query is None:
            return length
        return max(i for i in range(len(self.case.prompt), length + 1) if text[i] == START_SEARCH)

    def go_on(self, cut: int, state: Any) -> float:
        """Seconds for each of the `NUM_TOKENS` tokens after the first `cut`, of which `state` has read all but one.

        Raises:
            ArithmeticError: the model leaves the oracle's text.
        """
        read = self.model.vocab.encode(self.case.text[:cut])
        sessions = None
        if self.construction.read_query is not None:
            context = Retriever(limits=SEARCHES).context(read, self.model.vocab)
            sessions = [SearchSession(context, vocab=self.model.vocab, read_query=self.construction.read_query)]
        started = time.perf_counter()
        (written,) = generate(
            self.model, [read[-1:]], sessions=sessions, stop_ids=[], max_new_tokens=NUM_TOKENS, state=state
        )
        seconds = time.perf_counter() - started
        if self.model.vocab.decode(written.tokens) != self.case.text[cut : cut + NUM_TOKENS]:
            raise ArithmeticError(f"{self.construction.name} leaves the oracle's text after {cut} tokens.")
        return seconds / NUM_TOKENS


def machine_trace(by: str, length: int) -> Trace:
    """A palindrome, whose run is long enough."""
    (name, word) = next(
        long_run
        for n in range(2, length, 2)
        for long_run in palindromes_and_carries(n)[:1]
        if 5 * (n + 1) * (n + 2) // 2 >= length
    )
    suite = SIMULATIONS[by].suite(shipped_machines()[name], [word], exhaustive=False)
    return Trace(CONSTRUCTIONS[f"machine-{by}"], compile_program(suite.program), suite.cases[0])


def circuit_trace(length: int) -> Trace:
    """A word for the RNN in R_p, long enough for its gates to fill the text."""
    rnn = FIXED_POINT.compile()
    word = numpy_generator(length, "bench prove").choice(["a", "b"], size=length // len(rnn.gates) + 1)
    case = circuit_case(rnn, tuple(word.tolist()), num_outputs=1)
    return Trace(CONSTRUCTIONS["rnn-transformer"], compile_program(circuit_program(rnn, len(case.text))), case)


@torch.inference_mode()
def growth_of(kind: str, trace: Trace, lengths: tuple[int, ...]) -> Iterator[Line]:
    before = None
    for length in lengths:
        cut = trace.cut(length)
        ids = torch.from_numpy(trace.model.vocab.encode(trace.case.text[:cut]))[None]
        _, state = trace.model.prefill(ids[:, :-1])
        cost = min(trace.go_on(cut, state) for _ in range(REPEATS))
        started = time.perf_counter()
        trace.model.prefill(ids)
        prefix = time.perf_counter() - started
        yield Line(
            name=f"{kind} ({trace.construction.name}), a token after {length}",
            ours=1 / cost,
            reference=1 / prefix,
            reference_name="recomputing the prefix",
            ratio=prefix / cost,
            unit="tokens/s",
            n=length,
            growth=None if before is None else cost / before,
        )
        before = cost


def lines_at(lengths: tuple[int, ...]) -> Iterator[Line]:
    """The lines of the three kinds of model."""
    longest = max(lengths) + NUM_TOKENS
    yield from growth_of("RNN + search", machine_trace("rag", longest), lengths)
    yield from growth_of("hybrid", machine_trace("hybrid", longest), lengths)
    yield from growth_of("Transformer", circuit_trace(longest), lengths)


def lines() -> Iterator[Line]:
    """Tokens per second at each length, beside recomputing the prefix, and the growth of a token's cost."""
    yield from lines_at(LENGTHS)
