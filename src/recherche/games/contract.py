"""Is this cache a state? Then going on from it is the same as reading everything again, however the text is cut.

    full forward  =  token by token  =  chunks of 2, 3, 7, 64 from a carried cache  =  a batch with padding
                  =  resumed after the cache was written to a file and read by a new process
                  =  what a fork of the cache gives, whatever happened to the other branch
    generate with the cache  =  generate without

Each check compares logits by their relative error, max |a - b| / max |b|, and names the first position where they part
and the first layer that is wrong there. How the cache grows with the text is measured: constant, linear or capped.

Reference: Gu & Dao (2023), Mamba, Section 3.3 (one model, a recurrent and a parallel form),
https://arxiv.org/abs/2312.00752
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

TOLERANCE = 1e-4
"""Relative error up to which float32 models agree; rounding alone gives 1e-7 to 2e-5."""

CHUNKS = (2, 3, 7, 64)
LENGTH = 131
LENGTHS = (4, 32, 64, 128)


class Reading(NamedTuple):
    """What a model makes of the last token that it has read.

    Attributes:
        logits: of the token after it.
        layers: the output of each layer there, from the first on; empty where it cannot be seen.
        cache: what to go on from.
    """

    logits: Float[Tensor, "b v"]
    layers: tuple[Float[Tensor, "b d"], ...]
    cache: Any


class AbstractSubject(ABC):
    """A model with a cache, as the contract sees it."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the report calls it."""

    @property
    @abstractmethod
    def vocab_size(self) -> int:
        """Number of tokens."""

    @abstractmethod
    def full(self, tokens: Int[Tensor, "b t"]) -> list[Reading]:
        """One forward pass without a cache; a reading for each position."""

    @abstractmethod
    def extend(self, tokens: Int[Tensor, "b t"], cache: Any) -> Reading:
        """Read on from a cache; None is the beginning."""

    @abstractmethod
    def padded(self, tokens: Int[Tensor, "b t"], real: Bool[Tensor, "b t"]) -> Float[Tensor, "b v"]:
        """Logits after the last real token of each row of a padded batch.

        Raises:
            Refusal: the model does not take such padding.
        """

    @abstractmethod
    def fork(self, cache: Any) -> Any:
        """A cache to go on from that leaves this one alone."""

    @abstractmethod
    def tensors(self, cache: Any) -> dict[str, Tensor]:
        """All that the cache holds."""

    @abstractmethod
    def resume(self, cache: Any, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b v"]:
        """Logits after further tokens, read in a new process that is given the cache as a file."""

    @abstractmethod
    def generate(self, tokens: Int[Tensor, "1 t"], num_new: int, *, from_cache: bool) -> list[int]:
        """Greedy continuation by the model's own means."""

    @abstractmethod
    def misname(self, cache: Any, tokens: Int[Tensor, "b t"]) -> tuple[str, Float[Tensor, "b v"]]:
        """A wrong name under which a cache is taken without complaint, and the logits that come of it.

        Raises:
            Refusal: the model notices, as it should.
        """

    @abstractmethod
    def script(self, chunk: int) -> str:
        """A short program that shows a failure with chunks of this size."""


class Refusal(Exception):  # noqa: N818  (an answer, not a failure of ours)
    """The model declines what it is asked."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one check.

    Attributes:
        passed: True, False, or None where the check does not apply.
        error: relative error of the logits, the worst of all positions; NaN where none was measured.
        position: first position (from 0) where the error exceeds the tolerance.
        layer: first layer (from 0) that is wrong there.
        note: one sentence for a person.
    """

    check: str
    passed: bool | None
    error: float = float("nan")
    position: int | None = None
    layer: int | None = None
    note: str = ""


def relative_error(found: Tensor, expected: Tensor) -> float:
    """max |a - b| / max |b|; infinite if something is not a number."""
    error = float((found.double() - expected.double()).abs().max() / expected.double().abs().max().clamp(min=1e-30))
    return error if error == error else float("inf")


def sample_tokens(subject: AbstractSubject, rows: int, length: int, *, seed: int = 0) -> Int[Tensor, "b t"]:
    """Random tokens; the first few ids are left out, since many models give them a meaning of their own."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(min(4, subject.vocab_size - 1), subject.vocab_size, (rows, length), generator=generator)


def check_chunks(subject: AbstractSubject, size: int) -> Finding:
    """Full forward against chunks of `size` from a carried cache, for two rows; if that fails, for one row too."""
    found = _check_chunks(subject, size, rows=2)
    if found.passed or found.note:
        return found
    alone = _check_chunks(subject, size, rows=1)
    return replace(found, note="a single row is right") if alone.passed else found


def _check_chunks(subject: AbstractSubject, size: int, *, rows: int) -> Finding:
    check = "token by token" if size == 1 else f"chunks of {size}"
    tokens = sample_tokens(subject, rows, LENGTH)
    expected, cache, worst = subject.full(tokens), None, 0.0
    position: int | None = None
    layer: int | None = None
    for start in range(0, LENGTH, size):
        part = tokens[:, start : start + size]
        reading = subject.extend(part, cache)
        if reading.cache is None:
            return Finding(check=check, passed=False, note="no cache is returned, so there is nothing to go on from")
        cache, here = reading.cache, start + part.shape[1] - 1
        error = relative_error(reading.logits, expected[here].logits)
        worst = max(worst, error)
        if error > TOLERANCE and position is None:
            position, layer = here, first_wrong_layer(reading, expected[here])
    return Finding(check=check, passed=position is None, error=worst, position=position, layer=layer)


def first_wrong_layer(found: Reading, expected: Reading) -> int | None:
    """The first layer whose outputs differ; None where layers cannot be seen."""
    pairs = zip(found.layers, expected.layers, strict=True)
    return next((layer for layer, pair in enumerate(pairs) if relative_error(*pair) > TOLERANCE), None)


def check_padding(subject: AbstractSubject, side: str) -> Finding:
    """Rows of different lengths, padded on one side, against each row alone."""
    lengths, longest = (5, 23, 16), 23
    tokens = sample_tokens(subject, len(lengths), longest)
    real = torch.arange(longest) < torch.tensor(lengths)[:, None]
    alone = [subject.full(row[None, :length])[-1].logits for row, length in zip(tokens, lengths, strict=True)]
    if side == "left":
        tokens = torch.stack([row.roll(longest - length) for row, length in zip(tokens, lengths, strict=True)])
        real = real.flip(1)
    return _compared(f"{side} padding", lambda: subject.padded(tokens * real, real), torch.cat(alone))


def check_fork(subject: AbstractSubject) -> Finding:
    """One branch of a forked cache reads something else; the other must not notice."""
    tokens, other = sample_tokens(subject, 2, 24), sample_tokens(subject, 2, 9, seed=1)
    cache = subject.extend(tokens[:, :16], None).cache
    if cache is None:
        return Finding(check="fork", passed=False, note="no cache is returned, so there is nothing to fork")
    branch = subject.fork(cache)
    for token in other.split(1, dim=1):
        branch = subject.extend(token, branch).cache
    for token in tokens[:, 16:].split(1, dim=1):
        reading = subject.extend(token, cache)
        cache = reading.cache
    return _compared("fork", lambda: reading.logits, subject.full(tokens)[-1].logits)


def check_resume(subject: AbstractSubject) -> Finding:
    """The cache is written to a file; a new process reads it and one more token."""
    tokens = sample_tokens(subject, 2, 17)
    cache = subject.extend(tokens[:, :16], None).cache
    if cache is None:
        return Finding(check="new process", passed=False, note="no cache is returned, so there is nothing to write")
    return _compared("new process", lambda: subject.resume(cache, tokens[:, 16:]), subject.full(tokens)[-1].logits)


def check_generate(subject: AbstractSubject) -> Finding:
    """Greedy text with the cache against greedy text without."""
    tokens = sample_tokens(subject, 1, 12)
    try:
        with_cache, without = (subject.generate(tokens, 24, from_cache=choice) for choice in (True, False))
    except Refusal as refusal:
        return Finding(check="generate", passed=None, note=str(refusal))
    agree = [a == b for a, b in zip(with_cache, without, strict=True)]
    return Finding(check="generate", passed=all(agree), position=None if all(agree) else agree.index(False))


def check_name(subject: AbstractSubject) -> Finding:
    """A cache under the wrong name must be refused, or used; not swallowed."""
    tokens = sample_tokens(subject, 2, 17)
    cache = subject.extend(tokens[:, :16], None).cache
    if cache is None:
        return Finding(check="wrong name", passed=None, note="no cache is returned")
    try:
        name, logits = subject.misname(cache, tokens[:, 16:])
    except Refusal as refusal:
        return Finding(check="wrong name", passed=True, note=str(refusal))
    error = relative_error(logits, subject.full(tokens)[-1].logits)
    note = "" if error <= TOLERANCE else f"a cache passed as {name} is swallowed without an error"
    return Finding(check="wrong name", passed=error <= TOLERANCE, error=error, note=note)


def check_growth(subject: AbstractSubject) -> Finding:
    """How many bits the cache of one row has after texts of several lengths."""
    bits = []
    for length in LENGTHS:
        cache = subject.extend(sample_tokens(subject, 1, length), None).cache
        if cache is None:
            return Finding(check="growth", passed=None, note="no cache is returned")
        bits.append(8 * sum(tensor.numel() * tensor.element_size() for tensor in subject.tensors(cache).values()))
    rates = [(b - a) / (m - n) for a, b, n, m in zip(bits, bits[1:], LENGTHS, LENGTHS[1:], strict=False)]
    if not any(rates):
        note = f"constant, {bits[-1]:,} bits"
    elif rates[-1] == 0:
        note = f"capped at {bits[-1]:,} bits"
    else:
        note = f"linear, {rates[-1]:,.0f} bits a token, {bits[-1]:,} bits after {LENGTHS[-1]} tokens"
    return Finding(check="growth", passed=None, note=note)


def _compared(check: str, produce: Callable[[], Tensor], expected: Tensor) -> Finding:
    try:
        error = relative_error(produce(), expected)
    except Refusal as refusal:
        return Finding(check=check, passed=None, note=str(refusal))
    return Finding(check=check, passed=error <= TOLERANCE, error=error)


CHECKS: MappingProxyType[str, Callable[[AbstractSubject], Finding]] = MappingProxyType(
    {
        "token by token": lambda subject: check_chunks(subject, 1),
        **{f"chunks of {size}": (lambda subject, size=size: check_chunks(subject, size)) for size in CHUNKS},
        "left padding": lambda subject: check_padding(subject, "left"),
        "right padding": lambda subject: check_padding(subject, "right"),
        "fork": check_fork,
        "new process": check_resume,
        "generate": check_generate,
        "wrong name": check_name,
        "growth": check_growth,
    }
)


def findings(subject: AbstractSubject, checks: Sequence[str] = tuple(CHECKS)) -> Iterator[Finding]:
    """The outcome of each check; a check that the model answers with an exception has failed."""
    for name in checks:
        yield _finding(subject, name)


@torch.inference_mode()
def _finding(subject: AbstractSubject, check: str) -> Finding:
    try:
        return CHECKS[check](subject)
    except Exception as error:  # whatever a foreign model raises is the finding
        return Finding(check=check, passed=False, note=f"{type(error).__name__}: {str(error).splitlines()[0][:160]}")
