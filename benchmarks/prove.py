"""How the cost of a hand-set model's token grows with the text, from 1,000 to 16,000 tokens.

Growth compares a token after n tokens with one at the length before, in the same run: a recurrent model's cost stays,
an attention layer's grows at most in proportion. The reference for tokens per second is recomputing the prefix.
"""

import time
from collections.abc import Iterator

import torch

from benchmarks.harness import Line
from recherche.constructions.catalogue import CONSTRUCTIONS
from recherche.constructions.compiler import compile_program
from recherche.constructions.model import PaperModel

LENGTHS = (1000, 4000, 16000)
PROGRAMS = ("machine-rag", "machine-hybrid", "ar-transformer")
NUM_TOKENS = 24


@torch.inference_mode()
def seconds_per_token(model: PaperModel, length: int) -> float:
    tokens = torch.randint(0, len(model.vocab), (1, length), generator=torch.Generator().manual_seed(0))
    tokens[0, 0] = 0
    _, state = model.prefill(tokens)
    best = float("inf")
    for token in tokens[0, :NUM_TOKENS]:
        started = time.perf_counter()
        _, state = model.step(token[None], state)
        best = min(best, time.perf_counter() - started)
    return best


@torch.inference_mode()
def seconds_per_prefix(model: PaperModel, length: int) -> float:
    tokens = torch.zeros(1, length, dtype=torch.int64)
    started = time.perf_counter()
    model.prefill(tokens)
    return time.perf_counter() - started


def lines() -> Iterator[Line]:
    """Tokens per second at each length, beside recomputing the prefix, and the growth of a token's cost."""
    for name in PROGRAMS:
        model = compile_program(CONSTRUCTIONS[name].program(LENGTHS[-1] + NUM_TOKENS))
        before = None
        for length in LENGTHS:
            cost, prefix = seconds_per_token(model, length), seconds_per_prefix(model, length)
            yield Line(
                name=f"{name}, a token after {length}",
                ours=1 / cost,
                reference=1 / prefix,
                reference_name="recomputing the prefix",
                ratio=prefix / cost,
                unit="tokens/s",
                n=length,
                growth=None if before is None else cost / before,
            )
            before = cost
