"""Running a construction: generate token by token, compare with the oracle, then try the model's other guarantees.

Every case is generated with the same decoding loop, and its searches are run by the same retriever, as for a trained
model. On a few cases more is asked:

    step = forward       the logits of one pass over the text and those of a token at a time are equal, bit for bit
    softmax = hard max   so are the logits with hard-max attention
    audit                every register at every position has its exact value (audit.py)
    margin               by how much the generated token's logit beats all others

Reference: Wen, Dang & Lyu (2024), https://arxiv.org/abs/2402.18510
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from recherche.constructions.audit import audit
from recherche.constructions.blocks import Attention, hardmax
from recherche.constructions.compiler import compile_program, largest_weight, nonzero_weights
from recherche.constructions.construction import Case, Construction, Sizes, Suite
from recherche.constructions.model import PaperModel
from recherche.decoding import generate
from recherche.errors import CertificateError, ConfigError
from recherche.retrieval import Limits, Retriever, SearchSession
from recherche.vocab import END_SEARCH

ROW_TOKENS = 1 << 15
"""Tokens that are decoded together, over all rows of a batch."""

SLACK = 4
"""Tokens beyond the reference that a text may have before it is cut; one that is too long shows as different."""

CHECKED_TOKENS = 700
"""Length of the texts on which the other guarantees are tried."""

SEARCHES = Limits(searches_per_token=1.0, result_tokens=1)


@final
@dataclass(slots=True, kw_only=True)
class Proof:
    """What was tried and what came of it, for one construction and one way of choosing problems.

    Attributes:
        margin: the smallest lead of a generated token's logit; None if it was not looked at.
        audited_registers: registers of the largest program that were held to their exact values.
        inexact_registers: how many of them are not integers and were rounded somewhere.
        messages: one line for each failure.
    """

    theorem: str
    program: str
    architecture: str
    exhaustive: bool
    cases: int = 0
    failures: int = 0
    n_max: int = 0
    longest_trace: int = 0
    num_layers: int = 0
    n_heads: int = 0
    d_model: int = 0
    nonzeros: int = 0
    max_abs_weight: float = 0.0
    margin: float | None = None
    audited_registers: int = 0
    inexact_registers: int = 0
    seconds: float = 0.0
    messages: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """One line of `prove --json`."""
        return {name: getattr(self, name) for name in self.__slots__}


Check = Callable[[Proof, Suite, PaperModel, Case], None]
"""What one case of a suite is put to besides generation; it notes failures in the proof."""


def prove(
    construction: Construction,
    sizes: Sizes,
    *,
    compile_suite: Callable[[Suite], PaperModel] = lambda suite: compile_program(suite.program),
    check: Check | None = None,
    advance: Callable[[int], None] = lambda cases: None,
) -> list[Proof]:
    """One proof for the exhaustive suites of a construction and one for the sampled ones, as far as there are any.

    Args:
        compile_suite: makes the model; the default compiles the suite's program.
        check: what else a few cases are put to; the default is `check_guarantees`.
        advance: is told how many more cases are done.

    Raises:
        ConfigError: there are no problems of these sizes.
    """
    proofs: dict[bool, Proof] = {}
    for suite in construction.suites(sizes):
        proof = proofs.setdefault(
            suite.exhaustive,
            Proof(
                theorem=construction.theorem,
                program=construction.name,
                architecture=construction.architecture,
                exhaustive=suite.exhaustive,
            ),
        )
        started = time.perf_counter()
        model = compile_suite(suite)
        _describe(proof, suite, model)
        _generate(proof, construction, suite, model, advance)
        for case in checked_cases(suite.cases):
            (check or check_guarantees)(proof, suite, model, case)
        proof.seconds += time.perf_counter() - started
    if not proofs:
        asked = ", ".join(str(n) for n, _ in sizes.sampled) or f"up to {sizes.exhaustive}"
        raise ConfigError(f"{construction.name} has no problems of size {asked}; choose another n.")
    return list(proofs.values())


def _describe(proof: Proof, suite: Suite, model: PaperModel) -> None:
    """The sizes of the largest program so far."""
    shape = model.shape
    proof.n_max = max(proof.n_max, suite.n)
    proof.num_layers = max(proof.num_layers, len(shape.blocks))
    proof.n_heads = max(proof.n_heads, sum(block.n_heads for block in shape.blocks))
    proof.d_model = max(proof.d_model, shape.d_model)
    proof.nonzeros = max(proof.nonzeros, nonzero_weights(model))
    proof.max_abs_weight = max(proof.max_abs_weight, largest_weight(model))


def _generate(
    proof: Proof, construction: Construction, suite: Suite, model: PaperModel, advance: Callable[[int], None]
) -> None:
    """Generate every case and compare it with the oracle's text."""
    for batch in batches(suite.cases):
        for case, completion in zip(batch, write(construction, model, batch), strict=True):
            proof.cases += 1
            proof.longest_trace = max(proof.longest_trace, len(case.completion))
            if completion != case.completion:
                proof.failures += 1
                proof.messages.append(difference(case, completion))
        advance(len(batch))


def batches(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """The cases in groups of similar length, so that a group's padded tokens stay bounded."""
    group: list[Case] = []
    for case in sorted(cases, key=lambda case: len(case.text)):
        if group and (len(group) + 1) * len(case.text) > ROW_TOKENS:
            yield group
            group = []
        group.append(case)
    if group:
        yield group


def write(construction: Construction, model: PaperModel, cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """What the model writes for each case, with a few tokens more than the oracle's text to show that it ends."""
    stops = construction.stop_ids(model.vocab)
    budgets = [len(case.completion) + SLACK * (model.vocab.id_of(case.completion[-1]) in stops) for case in cases]
    return complete(construction, model, [case.prompt for case in cases], budgets)


def complete(
    construction: Construction, model: PaperModel, prompts: Sequence[Sequence[str]], budgets: Sequence[int]
) -> list[tuple[str, ...]]:
    """What the model writes after each prompt, its searches answered, until its answer or the budget in tokens."""
    vocab = model.vocab
    ids = [vocab.encode(prompt) for prompt in prompts]
    sessions = None
    if construction.read_query is not None:
        retriever = Retriever(limits=SEARCHES)
        sessions = [
            SearchSession(retriever.context(prompt, vocab), vocab=vocab, read_query=construction.read_query)
            for prompt in ids
        ]
    stops = construction.stop_ids(vocab)
    generations = generate(model, ids, sessions=sessions, stop_ids=stops, max_new_tokens=np.array(budgets))
    return [vocab.decode(generation.tokens) for generation in generations]


def difference(case: Case, completion: tuple[str, ...]) -> str:
    """Where a completion leaves the oracle's, in one line."""
    pairs = zip(completion, case.completion, strict=False)
    at = next((i for i, (found, want) in enumerate(pairs) if found != want), min(len(completion), len(case.completion)))
    want, found = case.completion[at : at + 1], completion[at : at + 1]
    prompt = " ".join(case.prompt[:24]) + (" ..." if len(case.prompt) > 24 else "")
    shown = f"{' '.join(found) or 'missing'}, the oracle has {' '.join(want) or 'none'}"
    return f"{prompt}: token {at + 1} of the completion is {shown}"


def checked_cases(cases: Sequence[Case]) -> list[Case]:
    """The shortest and the longest case that is short enough."""
    short = sorted((case for case in cases if len(case.text) <= CHECKED_TOKENS), key=lambda case: len(case.text))
    return [short[i] for i in sorted({0, len(short) - 1})] if short else []


def check_guarantees(proof: Proof, suite: Suite, model: PaperModel, case: Case) -> None:
    """Hold one case to step = forward, softmax = hard max, the audit, and note the decode margin."""
    tokens = torch.from_numpy(model.vocab.encode(case.text[:-1]))[None]
    with torch.inference_mode():
        logits = model(tokens)[0]
        for name, other in (("step", stepped_logits(model, tokens)), ("hard max", hardmax_logits(model, tokens))):
            if not torch.equal(logits, other):
                proof.failures += 1
                proof.messages.append(f"{' '.join(case.prompt[:24])}: logits of {name} differ from those of forward")
    written = [i for i in range(len(case.prompt) - 1, len(case.text) - 1) if case.text[i] != END_SEARCH]
    margin = decode_margin(logits[written])
    proof.margin = margin if proof.margin is None else min(proof.margin, margin)
    try:
        report = audit(suite.program, model, case.text[:-1])
    except CertificateError as error:
        proof.failures += 1
        proof.messages.append(str(error))
        return
    proof.audited_registers = max(proof.audited_registers, report.num_registers)
    proof.inexact_registers = max(proof.inexact_registers, report.num_registers - report.num_exact)


def stepped_logits(model: PaperModel, tokens: torch.Tensor) -> Float[Tensor, "t v"]:
    """The logits of one row, a token at a time."""
    state, rows = model.init_state(1), []
    for i in range(tokens.shape[1]):
        logits, state = model.step(tokens[:, i], state)
        rows.append(logits[0])
    return torch.stack(rows)


def hardmax_logits(model: PaperModel, tokens: torch.Tensor) -> Float[Tensor, "t v"]:
    """The logits of one row with hard-max attention in place of softmax."""
    attentions = [module for module in model.modules() if isinstance(module, Attention)]
    before = [attention.normalize for attention in attentions]
    try:
        for attention in attentions:
            attention.normalize = hardmax
        return model(tokens)[0]
    finally:
        for attention, normalize in zip(attentions, before, strict=True):
            attention.normalize = normalize


def decode_margin(logits: Float[Tensor, "t v"]) -> float:
    """The smallest lead of a largest logit over the second largest."""
    best = logits.topk(2, dim=-1).values
    return float((best[:, 0] - best[:, 1]).min())
