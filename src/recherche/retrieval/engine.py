"""Run a translated pattern with RE2: linear time, bounded memory, and an answer within a deadline.

RE2 cannot be interrupted. What bounds it is the product of program size and text length (never seen slower than 3e8 a
second); a search that could take longer than a few milliseconds runs on a worker thread (RE2 releases the interpreter
lock), the caller waits until the deadline and then has its answer, TIMEOUT, while the worker comes to its end.

Reference: Cox (2010), Regular Expression Matching in the Wild, https://swtch.com/~rsc/regexp/regexp3.html
"""

import functools
import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from typing import Any, final

from recherche.retrieval.limits import Limits, Mode, Paper
from recherche.retrieval.outcome import RefusedError, Status

_QUICK_COST = 5e6
_PROGRAMS_KEPT = 64
_WORKERS = 2 * (os.cpu_count() or 1)

Spans = tuple[tuple[int, int], ...]
"""Byte spans of the match and of its groups; (-1, -1) for a group that took no part."""


@final
class Program:
    """A compiled pattern."""

    __slots__ = ("_compiled", "size")

    def __init__(self, translated: str, memory_bytes: int) -> None:
        import re2

        options = re2.Options()
        options.max_mem = memory_bytes
        options.log_errors = False
        try:
            self._compiled = re2.compile(translated, options)
        except re2.error as error:
            message = error.args[0] if error.args else ""
            shown = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
            raise RefusedError(
                Status.TOO_LARGE,
                f"RE2 cannot compile the pattern within Limits.memory_bytes = {memory_bytes}: {shown}.",
            ) from None
        finally:
            # The wrapper's own cache would keep twice as many programs alive as we do.
            re2.purge()
        self.size: int = self._compiled.programsize

    def match(self, data: bytearray, begin: int = 0) -> Spans | None:
        """The leftmost match at or after byte `begin`."""
        found = self._compiled.search(data, begin)
        return None if found is None else tuple(found.span(number) for number in range(self._compiled.groups + 1))

    def match_all(self, data: bytearray, *, seconds: float) -> tuple[list[Spans], bool]:
        """(the matches from left to right, none over another; whether the end of the text was reached in time).

        After an empty match the search goes on one character later.
        """
        return all_matches(functools.partial(self.match, data), data, seconds=seconds)


def all_matches(
    match: Callable[[int], Spans | None], data: bytearray, *, seconds: float, most: float | int = math.inf
) -> tuple[list[Spans], bool]:
    """What `Program.match_all` returns, by a function that finds the leftmost match at or after a byte.

    Args:
        most: how many matches are enough.
    """
    matches: list[Spans] = []
    end = time.monotonic() + seconds
    at = 0
    while at <= len(data) and len(matches) < most:
        spans = match(at)
        if spans is None:
            return matches, True
        matches.append(spans)
        at = spans[0][1]
        if spans[0][0] == at:
            at += 1
            while at < len(data) and data[at] & 0xC0 == 0x80:
                at += 1
        if time.monotonic() > end:
            return matches, False
    return matches, True


def result_of(groups: Spans, mode: Mode) -> tuple[int, int]:
    """The group that is returned, by the rules of `mode`; (-1, -1) if none took part."""
    asked = groups[:1] if isinstance(mode, Paper) else groups
    return next((span for span in asked if span != (-1, -1)), (-1, -1))


@functools.lru_cache(maxsize=_PROGRAMS_KEPT)
def compile_program(translated: str, memory_bytes: int) -> Program:
    """The program for a translated pattern; the last few are kept.

    Raises:
        RefusedError: TOO_LARGE, it does not fit the memory.
    """
    return Program(translated, memory_bytes)


def check_cost(program: Program, n_bytes: int, limits: Limits) -> float:
    """Instructions times bytes, the bound on the time of one search.

    Raises:
        RefusedError: TOO_LARGE by `limits.program_size` or `limits.cost`.
    """
    if program.size > limits.program_size:
        raise RefusedError(
            Status.TOO_LARGE,
            f"A program may have {limits.program_size} instructions (Limits.program_size), got {program.size}.",
        )
    cost = float(program.size * n_bytes)
    if cost > limits.cost:
        raise RefusedError(
            Status.TOO_LARGE,
            f"Instructions times bytes may be {limits.cost:.3g} (Limits.cost), got {program.size} x {n_bytes}; "
            "make the pattern shorter, or ask by a template.",
        )
    return cost


def run_within(search: Callable[[], Any], *, cost: float | int, limits: Limits, abandon: Callable[[], None]) -> Any:
    """The result of `search`, or a refusal when the deadline comes first.

    Args:
        cost: a bound on the work; what is certain to be quick runs at once.
        abandon: called before TIMEOUT is raised, while the search still runs.

    Raises:
        RefusedError: TIMEOUT, or BUSY where too many such searches still run.
    """
    if cost <= _QUICK_COST:
        return search()
    pool, places = workers(os.getpid())
    if not places.acquire(blocking=False):
        raise RefusedError(Status.BUSY, f"{_WORKERS} searches beyond their deadline still run; try again in a second.")
    future: Future[Any] = pool.submit(search)
    future.add_done_callback(lambda _: places.release())
    try:
        return future.result(timeout=limits.deadline_ms / 1000)
    except TimeoutError:
        abandon()
        raise RefusedError(
            Status.TIMEOUT,
            f"No answer within {limits.deadline_ms:g} ms (Limits.deadline_ms); ask for something simpler.",
        ) from None


@functools.lru_cache(maxsize=1)
def workers(process_id: int) -> tuple[ThreadPoolExecutor, threading.BoundedSemaphore]:
    """The threads of a process, and a place for each; a forked process has none of its parent's."""
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix=f"recherche-search-{process_id}")
    return pool, threading.BoundedSemaphore(_WORKERS)
