import functools
import importlib
import itertools
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from numba.core.registry import CPUDispatcher

import recherche.kernels
from recherche.kernels.compiled import compiled, compiled_vectors, inlined_vectors
from recherche.mixers import MIXERS
from recherche.models.config import LanguageModelConfig
from recherche.models.language_model import LanguageModel


def checked(function):
    @functools.wraps(function)
    def wrapper(*args):
        raise AssertionError("numba should never see this wrapper")

    return wrapper


@compiled
@checked
def double(x: int) -> int:
    return 2 * x


def test_a_wrapped_function_is_compiled_as_written():
    assert double(21) == 42
    assert double.signatures


@inlined_vectors
def part(x: float) -> float:
    return 2 * x


@compiled_vectors
def function_of_its_own(x: float) -> float:
    return 2 * x


@compiled_vectors
def calls_a_part(x: float) -> float:
    return part(x)


@compiled_vectors
def calls_a_function(x: float) -> float:
    return function_of_its_own(x)


def left_to_the_linker(loop: CPUDispatcher) -> list[str]:
    """The compiled functions that a vector loop calls and that are not put into it."""
    named = (loop.py_func.__globals__.get(name) for name in loop.py_func.__code__.co_names)
    return [
        called.py_func.__name__
        for called in named
        if isinstance(called, CPUDispatcher) and not called.targetoptions.get("forceinline")
    ]


def vector_loops(module: ModuleType) -> list[CPUDispatcher]:
    return [
        loop for loop in vars(module).values() if isinstance(loop, CPUDispatcher) and loop.targetoptions.get("fastmath")
    ]


KERNELS = [info.name for info in pkgutil.iter_modules(recherche.kernels.__path__)]


@pytest.mark.parametrize("name", KERNELS)
def test_parts_of_vector_loops_are_inlined(name: str):
    for loop in vector_loops(importlib.import_module(f"recherche.kernels.{name}")):
        assert left_to_the_linker(loop) == []


def test_a_part_that_is_not_inlined_is_noticed():
    assert left_to_the_linker(calls_a_part) == []
    assert left_to_the_linker(calls_a_function) == ["function_of_its_own"]


def arrays_in(arguments: object) -> list[np.ndarray]:
    if isinstance(arguments, np.ndarray):
        return [arguments]
    return [array for part in arguments for array in arrays_in(part)] if isinstance(arguments, tuple) else []


def shared_writes(kernel: Callable[..., None], *arguments: object) -> int:
    """Run one thread of `kernel`, and count pairs of arrays that share memory of which it wrote one."""
    arrays = arrays_in(arguments)
    before = [array.copy() for array in arrays]
    kernel(0, 1, *arguments)
    written = [not np.array_equal(*pair, equal_nan=True) for pair in zip(arrays, before, strict=True)]
    return sum(
        (written[i] or written[j]) and np.shares_memory(arrays[i], arrays[j])
        for i, j in itertools.combinations(range(len(arrays)), 2)
    )


@pytest.mark.parametrize("mixer", MIXERS)
def test_no_kernel_reaches_what_it_writes_in_another_way(mixer: str, monkeypatch: pytest.MonkeyPatch):
    shared = {}

    def watch(kernel: CPUDispatcher, *arguments: object) -> None:
        shared[kernel.py_func.__name__] = shared_writes(kernel, *arguments)

    for name in KERNELS:
        module = importlib.import_module(f"recherche.kernels.{name}")
        if name != "bridge" and hasattr(module, "on_threads"):
            monkeypatch.setattr(module, "on_threads", watch)
    layer = MIXERS[mixer]() if MIXERS[mixer].stands_alone else MIXERS[mixer](d_ffn=16)
    model = LanguageModel(LanguageModelConfig(d_model=16, vocab_size=9, layers=(layer, layer)))
    model(torch.arange(9).repeat(2, 1)).logsumexp(-1).sum().backward()
    assert "norm_backward" in shared
    assert set(shared.values()) == {0}


@compiled_vectors
def add_to(thread: int, count: int, pair: tuple[np.ndarray, np.ndarray]) -> None:
    for i in range(len(pair[0])):
        pair[0][i] += pair[1][i]


def test_a_kernel_that_reaches_what_it_writes_in_another_way_is_noticed():
    x = np.ones(6)
    assert shared_writes(add_to, (x[:3], x[3:])) == 0
    assert shared_writes(add_to, (x[:4], x[2:])) == 1


GRADIENTS = """
import hashlib, torch
from recherche.models.language_model import LanguageModel
from recherche.models.sizes import model_config
model = LanguageModel(model_config("hybrid", "quick-retrieval", vocab_size=25))
tokens = torch.randint(25, (4, 40), generator=torch.Generator().manual_seed(0))
model(tokens).logsumexp(-1).sum().backward()
digest = hashlib.sha256()
for weight in model.parameters():
    digest.update(weight.grad.numpy().tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_the_process_that_compiles_and_the_next_one_compute_the_same_bits(tmp_path: Path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    run = functools.partial(subprocess.run, [sys.executable, "-c", GRADIENTS], env=environment, check=True)
    first, second = (run(capture_output=True, text=True).stdout for _ in range(2))
    assert first == second
    assert list(tmp_path.rglob("*.nbc"))
