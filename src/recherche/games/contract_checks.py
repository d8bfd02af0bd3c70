"""Is this cache a state? Then going on from it is the same as reading everything again, however the text is cut.

Each check compares logits by their relative error, max |a - b| / max |b|, and names the first position where they part
and the first layer that is wrong there. How the cache grows with the text is measured: constant, linear or capped.

    token by token, chunks of 2 3 7 64   from a carried cache, against one pass over the whole text
    positions by default                 token by token, where the model itself has to know at which position it is
    left padding, right padding          rows of 5, 23 and 16 tokens in one batch, against each row alone
    on after left / right padding        three more tokens from the cache that the padded batch has left
    fork                                 one branch reads something else; the other must not notice
    new process                          the cache goes through a file into a process that never saw the text
    generate                             greedy text with the cache, against greedy text without
    wrong name                           a cache under another family's name must be refused or used, not dropped
    growth                               bits of the cache of one row after 4, 32, 64 and 128 tokens

Reference: Gu & Dao (2023), Mamba, Section 3.3 (one model, a recurrent and a parallel form),
https://arxiv.org/abs/2312.00752
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from recherche.games.contract import AbstractSubject, Extension, Finding, Reading, Refusal

TOLERANCE = 1e-4
"""Relative error up to which float32 models agree; rounding alone gives 1e-7 to 2e-5."""

CHUNKS = (2, 3, 7, 64)
LENGTH = 131
LENGTHS = (4, 32, 64, 128)

NO_CACHE = "no cache is returned, so there is nothing to go on from"


def relative_error(found: Tensor, expected: Tensor) -> float:
    """max |a - b| / max |b|; infinite if something is not a number."""
    error = float((found.double() - expected.double()).abs().max() / expected.double().abs().max().clamp(min=1e-30))
    return error if error == error else float("inf")


def sample_tokens(subject: AbstractSubject, rows: int, length: int, *, seed: int = 0) -> Int[Tensor, "b t"]:
    """Random tokens; the first few ids are left out, since many models give them a meaning of their own."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(min(4, subject.vocab_size - 1), subject.vocab_size, (rows, length), generator=generator)


def check_chunks(subject: AbstractSubject, check: str, size: int, *, length: int) -> Finding:
    """Full forward against chunks of `size` from a carried cache, for two rows; if that fails, for one row too."""
    found = _check_chunks(subject, check, size, rows=2, length=length)
    if found.passed or found.note:
        return found
    alone = _check_chunks(subject, check, size, rows=1, length=length)
    return replace(found, note="a single row is right") if alone.passed else found


def _check_chunks(subject: AbstractSubject, check: str, size: int, *, rows: int, length: int) -> Finding:
    """Full forward of so many rows against chunks of `size` from a carried cache."""
    tokens = sample_tokens(subject, rows, length)
    expected = list(enumerate(subject.full(tokens)))
    found = _read_in_chunks(subject.extend, tokens, size)
    return _compared_readings(check, found, expected) if found else Finding(check=check, passed=False, note=NO_CACHE)


def check_default_positions(subject: AbstractSubject, check: str) -> Finding:
    """One token at a time with nothing given but the tokens and the cache, against the whole text likewise.

    An error that is there at given positions too is not held against it.
    """
    tokens = sample_tokens(subject, 2, 64)
    by_default = _read_in_chunks(subject.extend_by_default, tokens, 1)
    if not by_default:
        return Finding(check=check, passed=False, note=NO_CACHE)
    whole = list(enumerate(subject.extend_by_default(tokens, None).readings))
    found = _compared_readings(check, by_default, whole)
    given = _compared_readings(check, _read_in_chunks(subject.extend, tokens, 1), list(enumerate(subject.full(tokens))))
    return found if found.error > 2 * given.error else replace(found, passed=True, position=None, layer=None)


def _read_in_chunks(
    extend: Callable[[Int[Tensor, "b t"], Any], Extension], tokens: Int[Tensor, "b t"], size: int
) -> list[tuple[int, Reading]]:
    """Readings and their positions; nothing if no cache is returned."""
    found: list[tuple[int, Reading]] = []
    cache, end = None, 0
    for part in tokens.split(size, dim=1):
        readings, cache = extend(part, cache)
        if cache is None:
            return []
        end += part.shape[1]
        found += enumerate(readings, start=end - len(readings))
    return found


def _compared_readings(check: str, found: list[tuple[int, Reading]], expected: list[tuple[int, Reading]]) -> Finding:
    """The worst error, and where the first one is."""
    right, worst = dict(expected), 0.0
    place: tuple[int, int | None] | None = None
    for position, reading in found:
        error = relative_error(reading.logits, right[position].logits)
        worst = max(worst, error)
        if error > TOLERANCE and place is None:
            place = position, first_wrong_layer(reading, right[position])
    if place is None:
        return Finding(check=check, passed=True, error=worst)
    return Finding(check=check, passed=False, error=worst, position=place[0], layer=place[1])


def first_wrong_layer(found: Reading, expected: Reading) -> int | None:
    """The first layer whose outputs differ; None where layers cannot be seen."""
    pairs = zip(found.layers, expected.layers, strict=True)
    return next((layer for layer, pair in enumerate(pairs) if relative_error(*pair) > TOLERANCE), None)


def check_padding(subject: AbstractSubject, check: str, side: str) -> Finding:
    """Rows of different lengths, padded on one side: logits after the last token of each."""
    tokens, real, then, alone = _padded_batch(subject, side)
    return _compared(check, subject.padded(tokens, real, then[:, :0])[:, 0], alone[:, 0])


def check_after_padding(subject: AbstractSubject, check: str, side: str) -> Finding:
    """Three more tokens for each row, from the cache that the padded batch has left."""
    tokens, real, then, alone = _padded_batch(subject, side)
    return _compared(check, subject.padded(tokens, real, then)[:, 1:], alone[:, 1:])


def _padded_batch(
    subject: AbstractSubject, side: str
) -> tuple[Int[Tensor, "b t"], Bool[Tensor, "b t"], Int[Tensor, "b n"], Float[Tensor, "b m v"]]:
    """Tokens with padding, which of them are real, what comes then, and what each row gives alone.

    The padding is a token like others: one whose embedding is zero would hide that a model reads it.
    """
    lengths, longest = (5, 23, 16), 23
    tokens, then = sample_tokens(subject, len(lengths), longest), sample_tokens(subject, len(lengths), 3, seed=1)
    alone = []
    for row, more, length in zip(tokens, then, lengths, strict=True):
        readings = subject.full(torch.cat([row[:length], more])[None])
        alone.append(torch.cat([reading.logits for reading in readings[length - 1 :]]))
    real = torch.arange(longest) < torch.tensor(lengths)[:, None]
    if side == "left":
        tokens = torch.stack([row.roll(longest - length) for row, length in zip(tokens, lengths, strict=True)])
        real = real.flip(1)
    return tokens.where(real, subject.vocab_size - 1), real, then, torch.stack(alone)


def check_fork(subject: AbstractSubject, check: str) -> Finding:
    """One branch of a forked cache reads something else; the other must not notice.

    It is compared with itself, read without a fork, so that nothing but the fork is held against it.
    """
    tokens, other = sample_tokens(subject, 2, 29), sample_tokens(subject, 2, 9, seed=1)
    first, rest = tokens[:, :21], tokens[:, 21:].split(1, dim=1)
    if (cache := subject.extend(first, None).cache) is None:
        return Finding(check=check, passed=False, note=NO_CACHE)
    expected = _read(subject, rest, cache)
    cache = subject.extend(first, None).cache
    _read(subject, other.split(1, dim=1), subject.fork(cache))
    return _compared(check, _read(subject, rest, cache), expected)


def _read(subject: AbstractSubject, parts: Sequence[Int[Tensor, "b t"]], cache: Any) -> Float[Tensor, "b v"]:
    """Logits after the last of several parts of a text."""
    logits = torch.empty(0, 0)
    for part in parts:
        readings, cache = subject.extend(part, cache)
        logits = readings[-1].logits
    return logits


def check_resume(subject: AbstractSubject, check: str) -> Finding:
    """The cache is written to a file; a new process reads it and one more token. Compared with the same here."""
    tokens = sample_tokens(subject, 2, 22)
    if (cache := subject.extend(tokens[:, :21], None).cache) is None:
        return Finding(check=check, passed=False, note=NO_CACHE)
    resumed = subject.resume(subject.fork(cache), tokens[:, 21:])
    return _compared(check, resumed, _read(subject, [tokens[:, 21:]], cache))


def check_generate(subject: AbstractSubject, check: str) -> Finding:
    """Greedy text with the cache against greedy text without."""
    tokens = sample_tokens(subject, 1, 12)
    with_cache, without = (subject.generate(tokens, 24, from_cache=choice) for choice in (True, False))
    agree = [a == b for a, b in zip(with_cache, without, strict=True)]
    return Finding(check=check, passed=all(agree), position=None if all(agree) else agree.index(False))


def check_name(subject: AbstractSubject, check: str) -> Finding:
    """A cache under the wrong name must be refused, or used; not swallowed. Compared with the right name."""
    tokens = sample_tokens(subject, 2, 22)
    if (cache := subject.extend(tokens[:, :21], None).cache) is None:
        return Finding(check=check, passed=None, note=NO_CACHE)
    try:
        name, logits = subject.misname(subject.fork(cache), tokens[:, 21:])
    except Refusal as refusal:
        return Finding(check=check, passed=True, note=str(refusal))
    error = relative_error(logits, _read(subject, [tokens[:, 21:]], cache))
    note = "" if error <= TOLERANCE else f"a cache passed as {name} is swallowed without an error"
    return Finding(check=check, passed=error <= TOLERANCE, error=error, note=note)


def check_growth(subject: AbstractSubject, check: str) -> Finding:
    """How many bits the cache of one row has after texts of several lengths."""
    bits = []
    for length in LENGTHS:
        if (cache := subject.extend(sample_tokens(subject, 1, length), None).cache) is None:
            return Finding(check=check, passed=None, note=NO_CACHE)
        bits.append(8 * sum(tensor.numel() * tensor.element_size() for tensor in subject.tensors(cache).values()))
    rates = [(b - a) / (m - n) for a, b, n, m in zip(bits, bits[1:], LENGTHS, LENGTHS[1:], strict=False)]
    if not any(rates):
        note = f"constant, {bits[-1]:,} bits"
    elif rates[-1] < 0:
        note = f"varies, at most {max(bits):,} bits"
    elif rates[-1] == 0:
        note = f"capped at {bits[-1]:,} bits"
    else:
        note = f"linear, {rates[-1]:,.0f} bits a token, {bits[-1]:,} bits after {LENGTHS[-1]} tokens"
    return Finding(check=check, passed=None, note=note)


def _compared(check: str, found: Tensor, expected: Tensor) -> Finding:
    error = relative_error(found, expected)
    return Finding(check=check, passed=error <= TOLERANCE, error=error)


Check = Callable[[AbstractSubject, str], Finding]


def checks_of(length: int) -> Mapping[str, Check]:
    """Every check by its name; texts that are read in chunks have so many tokens."""
    return {
        "token by token": partial(check_chunks, size=1, length=length),
        **{f"chunks of {size}": partial(check_chunks, size=size, length=length) for size in CHUNKS},
        "positions by default": check_default_positions,
        "left padding": partial(check_padding, side="left"),
        "right padding": partial(check_padding, side="right"),
        "on after left padding": partial(check_after_padding, side="left"),
        "on after right padding": partial(check_after_padding, side="right"),
        "fork": check_fork,
        "new process": check_resume,
        "generate": check_generate,
        "wrong name": check_name,
        "growth": check_growth,
    }


CHECKS = MappingProxyType(checks_of(LENGTH))
"""Every check by its name."""


def findings(
    subject: AbstractSubject, checks: Sequence[str] = tuple(CHECKS), *, length: int = LENGTH
) -> Iterator[Finding]:
    """The outcome of each check; a check that the model answers with an exception has failed.

    Args:
        length: tokens of the texts that are read in chunks.
    """
    table = checks_of(length)
    for name in checks:
        found = _finding(subject, name, table[name])
        if found.passed is False and name in subject.unpromised:
            found = replace(found, passed=None, note=subject.unpromised[name])
        yield found


@torch.inference_mode()
def _finding(subject: AbstractSubject, name: str, check: Check) -> Finding:
    try:
        return check(subject, name)
    except Refusal as refusal:
        return Finding(check=name, passed=None, note=str(refusal))
    except Exception as error:  # whatever a foreign model raises is the finding
        lines = str(error).splitlines() or [""]
        return Finding(check=name, passed=False, note=f"{type(error).__name__}: {lines[0][:160]}")
