import dataclasses
import gc
import resource
import time
from collections.abc import Callable
from random import Random

import pytest
import re2

from recherche.errors import ConfigError
from recherche.retrieval.context import Context
from recherche.retrieval.limits import TEXT_LIMITS, Limits, Paper, Standard
from recherche.retrieval.outcome import Status
from recherche.retrieval.retriever import Retriever
from recherche.vocab import FAILED
from tests.retrieval import fuzz

MIB = 1 << 20


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits)])
def test_every_limit_is_positive_and_documented(name: str):
    with pytest.raises(ConfigError, match=rf"Limits need positive numbers, got {name} = 0; raise it"):
        Limits(**{name: 0})
    assert f"        {name}: " in (Limits.__doc__ or "")


def test_a_text_may_be_larger_than_a_context_of_tokens():
    defaults = dataclasses.replace(Limits(), cost=TEXT_LIMITS.cost, deadline_ms=TEXT_LIMITS.deadline_ms)
    assert defaults == TEXT_LIMITS
    assert TEXT_LIMITS.cost >= 500 * 10_000_000


def test_a_model_sees_failed_unless_the_user_chose_a_token():
    standard = Standard(failure_tokens={Status.TIMEOUT: "<TIMEOUT>"})
    assert [standard.failure_token(status) for status in (Status.TIMEOUT, Status.SYNTAX)] == ["<TIMEOUT>", FAILED]
    assert {Paper().failure_token(status) for status in Status} == {FAILED}


@pytest.fixture(scope="module")
def crowded() -> Context:
    words = ["5", "a", "=", "12", "é", "x", "xxxxxxxx", "aaaaaaaa", "<s>", "a\x00b"]
    signs = [chr(code) for code in range(0x4E00, 0x7E00, 3)]
    return Retriever().context(Random(0).choices(words, k=10_000) + signs)


def processor_seconds(work: Callable[[str], object], pattern: str) -> float:
    """What one call costs this thread; the collection of other tests' rubbish is not its cost."""
    gc.disable()
    try:
        start = time.thread_time()
        work(pattern)
        return time.thread_time() - start
    finally:
        gc.enable()


def test_hostile_patterns_cost_the_caller_little_time(crowded: Context):
    hostile = {name: processor_seconds(crowded.search, pattern) for name, pattern in fuzz.HOSTILE.items()}
    unguarded = processor_seconds(re2.compile, fuzz.HOSTILE["many optional letters"])
    assert unguarded > max(hostile.values()), hostile


@pytest.mark.parametrize("pattern", fuzz.HOSTILE.values(), ids=fuzz.HOSTILE)
def test_a_hostile_pattern_costs_the_caller_little_memory(pattern: str, crowded: Context):
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = crowded.search(pattern)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * 1024 < 128 * MIB
    assert found.status in set(Status) - {Status.NO_START}
    assert (found.tokens is not None) is (found.status is Status.OK)
