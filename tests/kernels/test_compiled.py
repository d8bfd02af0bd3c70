import functools
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from numba.core.registry import CPUDispatcher

import recherche.kernels
from recherche.kernels.compiled import compiled, compiled_vectors, inlined_vectors


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
