"""The decorator of every compiled loop: numba's `njit`, cached on disk, on the function as it was written.

A compiled function that others call is a part of them: `inlined` puts its code into each caller. Were it left as a
function of its own, the linker would take its code from whichever caller was compiled or loaded first, each optimised
in its own way, and sums would round differently in the process that compiles and in the next one.

The test run wraps each function in a checker of shapes and types, which numba cannot compile; `compiled` looks through
it. So compiled functions are annotated like all others; the annotations are for the reader and the type checker.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from typing_extensions import override

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """`function`, compiled to machine code at its first call and kept on disk for the next process."""
    return numba.njit(cache=True)(inspect.unwrap(function))


def inlined(function: Function) -> Function:
    """A part of compiled functions."""
    return numba.njit(cache=True, forceinline=True)(inspect.unwrap(function))


class _Apart(CompilerBase):
    """numba's own stages, told that no two arrays of a call share memory that one of them writes.

    Otherwise each vector loop begins by comparing the places of its arrays, and with many of them is not made at all.
    """

    @override
    def define_pipelines(self) -> list[Any]:
        self.state.flags.noalias = True
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


_VECTORS = {
    "pipeline_class": _Apart,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}


def compiled_vectors(function: Function) -> Function:
    """`function` compiled without the interpreter's lock, with sums in whatever order makes vector instructions.

    What it writes through one argument it must not reach through another.
    """
    return numba.njit(cache=True, **_VECTORS)(inspect.unwrap(function))


def inlined_vectors(function: Function) -> Function:
    """A part of functions made by `compiled_vectors`, with the same freedom in sums and the same duty."""
    return numba.njit(cache=True, forceinline=True, **_VECTORS)(inspect.unwrap(function))
