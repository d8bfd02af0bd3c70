"""Proposition 5.1: an oracle for associative recall does not help a small memory to solve Index.

    data  x1 K x2 K ... xm K        bits written as the tokens 0 and 1, each followed by the token K

The oracle returns the token after the first q. On this data every answer but one is forced: after 0 and after 1
stands K, if they occur at all; after K stands x2; other tokens are not there. So all that the oracle can ever say is
a function of x2 and of which bits occur: at most 4 different views of 2^m inputs, for every m. (What the model itself
writes comes after the data. It can change an answer only for a token that does not occur in the data, and then by the
same text.)

Suppose a model has read the data and holds M bits of state. Its whole continuation, queries and answers included, is
a function of the state, the view and the question. There are at most 4 2^M pairs of state and view; if that is less
than 2^m, two inputs share both, and they differ at some place i. Asked for x_i, the model answers both alike, and one
wrongly.

`find_collision` returns such a pair for any step function. Run here: a linear unit in R_p, for every m.

Reference: Wen, Dang & Lyu (2024), Proposition 5.1 and Appendix C.8, https://arxiv.org/abs/2402.18510
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import product
from typing import final

import torch

from recherche.constructions.construction import Sizes
from recherche.constructions.proof import Proof
from recherche.precision import FixedPoint
from recherche.queries import AR
from recherche.retrieval import Retriever

Bits = tuple[int, ...]
MARK = "K"
QUERIES = ("0", "1", MARK)

DECAY = 0.5
INPUTS = {"0": -1.25, "1": 0.75, MARK: 0.5}
"""The linear unit that reads the data: h' = R_p(DECAY h + INPUTS[x])."""

MOST_VIEWS = 4


@final
@dataclass(frozen=True, slots=True)
class Collision:
    """Two inputs with equal state and equal oracle answers, and a place (from 1) where they differ."""

    first: Bits
    second: Bits
    place: int


def data_of(bits: Bits) -> list[str]:
    """x1 K x2 K ... as tokens."""
    return [token for bit in bits for token in (str(bit), MARK)]


def view_of(bits: Bits) -> tuple[str | None, ...]:
    """What the oracle answers to each query that could have an answer; a question of two tokens follows the data."""
    context = Retriever().context([*data_of(bits), "?", "?"])
    found = (context.query(AR(query)) for query in QUERIES)
    return tuple(answer.tokens[0] if answer.tokens else None for answer in found)


def final_states(bits: int, m: int) -> dict[Bits, Hashable]:
    """The state of h' = R_p(h / 2 + b[x]) with p = `bits` after every input of m bits."""
    rounding = FixedPoint(bits)
    words = list(product((0, 1), repeat=m))
    h = torch.zeros(len(words), dtype=torch.float64)
    for i in range(2 * m):
        h = rounding(DECAY * h + torch.tensor([INPUTS[data_of(word)[i]] for word in words], dtype=torch.float64))
    return dict(zip(words, h.tolist(), strict=True))


def find_collision(m: int, state_of: Callable[[Bits], Hashable], view: Callable[[Bits], Hashable]) -> Collision | None:
    """The first two inputs of m bits that share state and view, or None if there are none."""
    seen: dict[Hashable, Bits] = {}
    for bits in product((0, 1), repeat=m):
        other = seen.setdefault((state_of(bits), view(bits)), bits)
        if other != bits:
            place = next(i for i, (a, b) in enumerate(zip(other, bits, strict=True), start=1) if a != b)
            return Collision(other, bits, place)
    return None


def prove_recall(sizes: Sizes, *, bits: int = 5) -> list[Proof]:
    """Count the views of all inputs of up to `sizes.exhaustive` tokens, and find a collision once one must exist."""
    weights = (DECAY, *INPUTS.values())
    proof = Proof(
        theorem=THEOREM,
        program=NAME,
        architecture="rnn+oracle",
        exhaustive=True,
        num_layers=1,
        d_model=1,
        nonzeros=len(weights),
        max_abs_weight=max(map(abs, weights)),
    )
    started = time.perf_counter()
    for m in range(1, sizes.exhaustive // 2 + 1):
        states = final_states(bits, m)
        views = {word: view_of(word) for word in states}
        proof.cases += len(states)
        proof.n_max = 2 * m
        if len(set(views.values())) > MOST_VIEWS:
            proof.failures += 1
            proof.messages.append(f"{2 * m} tokens: the oracle tells {len(set(views.values()))} views apart")
        if MOST_VIEWS * len(set(states.values())) < len(states):
            proof.failures += find_collision(m, states.__getitem__, views.__getitem__) is None
    proof.seconds = time.perf_counter() - started
    return [proof]


THEOREM = "5.1"
NAME = "oracle-recall"
STATEMENT = "An oracle for associative recall shows at most 4 views of the data, so it does not make up for memory."
SIZES = Sizes(16, ())
FULL_SIZES = Sizes(32, ())
"""Two tokens a bit: all words of up to 16 bits."""
