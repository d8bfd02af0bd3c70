"""Decoding 256 graphs from states, side by side, against recomputing the whole prefix for each token of one graph.

Both sides run the same untrained model on hard graphs of 16 vertices, make every search of the retrieval protocol, and
write the reference trace: its next token is put above the model's own choice, so that the amount of work does not
depend on what a model has learnt. The reference is timed on the first graph of the batch; its cost per token depends
on the graph only through the length of the trace, which varies little.

The small models of the quick recipe are bound by overhead, the searches included; the paper's 0.5M by arithmetic.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks.harness import Line, compare
from recherche.batching import prompts_of
from recherche.evaluation import open_sessions, solve
from recherche.models.language_model import LanguageModel
from recherche.models.sizes import ARCHITECTURES, model_config
from recherche.tasks import Batch, IsTree, RetrievalTour, draw_keys

N_NODES, NUM_GRAPHS, NUM_SLICE = 16, 256, 1
FAR_ABOVE = 1e9


class Text(NamedTuple):
    """What is left to write, as a state."""

    rest: Tensor


class Led:
    """A model that computes everything and writes the reference trace."""

    def __init__(self, model: LanguageModel, batch: Batch) -> None:
        self.model, self.device = model, model.device
        rows = [batch.tokens[row, batch.prompt_lengths[row] :] for row in range(len(batch.tokens))]
        width = 1 + max(len(row) for row in rows)
        self.texts = torch.from_numpy(np.stack([np.pad(row, (0, width - len(row))) for row in rows]))

    def prefill(self, tokens: Tensor, state: Any = None, *, lengths: Tensor | None = None) -> tuple[Tensor, Any]:
        logits, state = self.model.prefill(tokens, lengths=lengths)
        return self.led(logits, self.texts), (*state, Text(self.texts[:, 1:]))

    def step(self, token: Tensor, state: Any) -> tuple[Tensor, Any]:
        logits, after = self.model.step(token, state[:-1])
        rest = state[-1].rest
        return self.led(logits, rest), (*after, Text(rest[:, 1:]))

    def led(self, logits: Tensor, rest: Tensor) -> Tensor:
        return logits.scatter(1, rest[:, :1], FAR_ABOVE)


def from_states(model: LanguageModel, task: IsTree, batch: Batch) -> int:
    generations = solve(Led(model, batch), task, batch, sessions=open_sessions(task, prompts_of(batch)))
    assert all(g.answer == answer for g, answer in zip(generations, batch.answers.tolist(), strict=True))
    return sum(len(generation.tokens) for generation in generations)


@torch.inference_mode()
def recomputing_prefixes(model: LanguageModel, task: IsTree, batch: Batch) -> int:
    num_tokens = 0
    for row, session in enumerate(open_sessions(task, prompts_of(batch))):
        prompt, length = int(batch.prompt_lengths[row]), int(batch.lengths[row])
        tokens = batch.tokens[row, :prompt].tolist()
        while len(tokens) < length:
            logits = model(torch.tensor([tokens]))[0, -1]
            logits[batch.tokens[row, len(tokens)]] = FAR_ABOVE
            tokens.append(int(logits.argmax()))
            tokens.extend(session.feed(tokens[-1]))
        num_tokens += len(tokens) - prompt
    return num_tokens


def lines() -> Iterator[Line]:
    task = IsTree(n_nodes=N_NODES, protocol=RetrievalTour())
    batch = task.batch(draw_keys(np.random.default_rng(0), NUM_GRAPHS))
    part = task.batch(batch.keys[:NUM_SLICE])
    for size, architecture in product(("quick-retrieval", "0.5M"), ARCHITECTURES):
        model = LanguageModel(model_config(architecture, size, vocab_size=len(task.vocab)))
        recomputing_prefixes(model, task, part)
        yield Line.from_rates(
            f"decode {architecture} {size}",
            compare(
                partial(from_states, model, task, batch),
                partial(recomputing_prefixes, model, task, part),
                repeats=2,
                warm_up=0,
            ),
            reference_name=f"whole prefix recomputed for each token, one graph at a time ({NUM_SLICE} of {NUM_GRAPHS})",
            unit="tokens/s",
            n=N_NODES,
        )
