"""The decorator of every compiled loop: numba's `njit`, cached on disk, on the function as it was written.

The test run wraps each function in a checker of shapes and types, which numba cannot compile; `compiled` looks through
it. So compiled functions are annotated like all others; the annotations are for the reader and the type checker.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """`function`, compiled to machine code at its first call and kept on disk for the next process."""
    return numba.njit(cache=True)(inspect.unwrap(function))


def compiled_vectors(function: Function) -> Function:
    """`function` compiled without the interpreter's lock, with sums in whatever order makes vector instructions."""
    options = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "arcp", "nsz"}}
    return numba.njit(cache=True, **options)(inspect.unwrap(function))
