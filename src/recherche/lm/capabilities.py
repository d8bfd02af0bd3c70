"""What a model's cache is good for, found out by the contract's own checks on a tiny text before it is relied on.

    steps     one row, token by token after a prompt, equals one pass over the whole
    rows      the same for several rows side by side
    chunks    the same for several tokens at a time (of one row, where several are wrong)
    padding   rows of different lengths, padded on the left, and single tokens after them, equal each row alone

No family is listed by hand: what holds for a class, its configuration and its number type is measured at the first use
(a few seconds) and kept for the process. `docs/contract.md` says which families of transformers are wrong in what.

Reference: Gu & Dao (2023), Mamba, Section 3.3 (one model, a recurrent and a parallel form),
https://arxiv.org/abs/2312.00752
"""

import warnings
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import torch

from recherche.errors import ConfigError
from recherche.games.contract_checks import TOLERANCE, findings, relative_error, sample_tokens
from recherche.games.hf_subjects import HFSubject

PROMPT, LENGTH = 9, 29
"""Tokens read at once, and in all: more than the short windows of tiny models, few enough for large ones."""

PADDED = ("left padding", "on after left padding")

TOLERANCES = MappingProxyType(
    {torch.float64: TOLERANCE, torch.float32: TOLERANCE, torch.float16: 2e-2, torch.bfloat16: 1e-1}
)
"""Relative error up to which two ways of reading agree; by number type, since rounding differs."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What holds for a model.

    Attributes:
        steps, rows, chunks, padding: see the module.
        step_error: relative error of single steps of one row.
    """

    steps: bool
    rows: bool
    chunks: bool
    padding: bool
    step_error: float


_MEASURED: dict[tuple[type, str, torch.dtype], Capabilities] = {}


def capabilities_of(model: Any) -> Capabilities:
    """What holds for the model; measured once for its class, configuration and number type.

    Raises:
        ConfigError: the model keeps no cache.
    """
    key = (type(model), model.config.to_json_string(), model.dtype)
    if key not in _MEASURED:
        _MEASURED[key] = _measure(model)
    return _MEASURED[key]


@torch.inference_mode()
def _measure(model: Any) -> Capabilities:
    subject = HFSubject(model=model, label=type(model).__name__, recipe="")
    _ = subject.cache_name  # refuses a model that takes none
    tolerance = TOLERANCES.get(model.dtype, TOLERANCE)
    was_training = model.training
    model.eval()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a check that a family answers with one; what follows from it is told
            step_error = _error_of_reading_on(subject, rows=1, size=1)
            rows = step_error <= tolerance and _error_of_reading_on(subject, rows=2, size=1) <= tolerance
            chunks = _error_of_reading_on(subject, rows=2 if rows else 1, size=5) <= tolerance
            padding = rows and all(found.error <= tolerance for found in findings(subject, PADDED))
    finally:
        model.train(was_training)
    return Capabilities(steps=step_error <= tolerance, rows=rows, chunks=chunks, padding=padding, step_error=step_error)


def _error_of_reading_on(subject: HFSubject, *, rows: int, size: int) -> float:
    """Relative error of so many tokens at a time after a prompt read in one pass, against one pass over the whole.

    An exception is an infinite error: a family may refuse what is tried.

    Raises:
        ConfigError: no cache is returned.
    """
    tokens, errors = sample_tokens(subject, rows, LENGTH), []
    try:
        expected = subject.full(tokens)
        cache, end = subject.extend(tokens[:, :PROMPT], None).cache, PROMPT
        if cache is None:
            raise ConfigError(f"{subject.name} returns no cache, so there is nothing to go on from; choose another.")
        for part in tokens[:, PROMPT:].split(size, dim=1):
            readings, cache = subject.extend(part, cache)
            end += part.shape[1]
            errors.append(relative_error(readings[-1].logits, expected[end - 1].logits))
    except (RuntimeError, ValueError, IndexError, TypeError):
        return float("inf")
    return max(errors)
