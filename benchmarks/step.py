"""Writing one token after 1,000, 10,000 and 100,000 tokens of context: every mixer at the 0.5M shape, batch of one.

    n, growth     tokens read before; time a token here over time a token at the length before it: 1 is flat
    reference     our Transformer after as many tokens, whose state grows with them

A model reads random tokens in chunks and carries its state on. Attention would take hours of products to read 100,000
tokens; the time of its steps depends on the size of its state alone, so its state after 1,000 tokens is repeated. Every
turn measures all lengths and both sides one after the other; the best turn of each counts. Steps go on from state to
state, so that none is a fork.
"""

from collections.abc import Callable, Iterator
from itertools import product

import torch

from benchmarks.harness import Line, rate
from benchmarks.train import VOCAB, language_model
from recherche._rng import torch_generator
from recherche.mixers import MIXERS
from recherche.mixers.kv_cache import KVState
from recherche.models.language_model import LanguageModel, ModelState

LENGTHS = (1_000, 10_000, 100_000)
CHUNK, NUM_STEPS, NUM_TURNS = 2_000, 3, 10
REFERENCE = "attention"


def lines() -> Iterator[Line]:
    """Tokens per second of each mixer at each length, beside attention's at the same length."""
    reference = language_model(REFERENCE)
    writers = _writers(reference)
    for name in MIXERS:
        model = language_model(name)
        yield from _lines(name, writers if name == REFERENCE else _writers(model), writers)


def _lines(name: str, ours: list[Callable[[], float]], reference: list[Callable[[], float]]) -> Iterator[Line]:
    sides = list(product((ours, reference), range(len(LENGTHS))))
    turns = [[rate(side[i]) for side, i in sides] for _ in range(NUM_TURNS)]
    best = [max(rates) for rates in zip(*turns, strict=True)]
    for i, n in enumerate(LENGTHS):
        growth = best[i - 1] / best[i] if i else None
        yield Line(
            name=f"step-{name}",
            ours=best[i],
            reference=best[i + len(LENGTHS)],
            reference_name="our Transformer, 0.5M, after as many tokens",
            ratio=best[i] / best[i + len(LENGTHS)],
            unit="tokens/s",
            n=n,
            growth=growth,
        )


@torch.inference_mode()
def _states(model: LanguageModel) -> Iterator[ModelState]:
    """The state after each of `LENGTHS`."""
    tokens = torch.randint(VOCAB, (1, max(LENGTHS)), generator=torch_generator(0, "bench"))
    state, num_read = None, 0
    for n in LENGTHS:
        grown = [_repeated(part, n) for part in state or ()]
        if state is not None and all(grown):
            state = tuple(grown)
        else:
            for chunk in tokens[:, num_read:n].split(CHUNK, dim=1):
                _, state = model.prefill(chunk, state)
        num_read = n
        assert state is not None
        yield state


def _repeated(part: object, n: int) -> KVState | None:
    """Keys and values repeated until there are n; None if the state is of another kind."""
    if not isinstance(part, KVState):
        return None
    repeats = -(-n // part.columns)
    return KVState(*(columns.repeat(1, 1, repeats, 1)[:, :, :n] for columns in (part.keys, part.values)))


def _writers(model: LanguageModel) -> list[Callable[[], float]]:
    """What writes `NUM_STEPS` more tokens, after each of `LENGTHS`."""
    return [_writer(model, state) for state in _states(model)]


def _writer(model: LanguageModel, state: ModelState) -> Callable[[], float]:
    token = torch.zeros(1, dtype=torch.int64)

    @torch.inference_mode()
    def write() -> float:
        nonlocal token, state
        for _ in range(NUM_STEPS):
            logits, state = model.step(token, state)
            token = logits.argmax(dim=-1)
        return NUM_STEPS

    write()  # the first step of a cache makes room for the next ones
    return write
