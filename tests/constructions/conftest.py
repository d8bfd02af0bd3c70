"""What tests of constructions share: random texts, and an audit of a program on them."""

from collections.abc import Callable, Sequence

import pytest

from recherche._rng import numpy_generator
from recherche.constructions.audit import Audit, audit
from recherche.constructions.compiler import compile_program
from recherche.constructions.program import Program


@pytest.fixture
def texts() -> Callable[..., list[list[str]]]:
    """Random texts that begin with <s>, over the given tokens."""

    def draw(tokens: Sequence[str], *, length: int, count: int) -> list[list[str]]:
        generator = numpy_generator(length, "texts")
        return [["<s>", *generator.choice(list(tokens), size=length - 1).tolist()] for _ in range(count)]

    return draw


@pytest.fixture
def audited() -> Callable[[Program, list[list[str]]], list[Audit]]:
    """Compile a program once and hold it to its meaning on every text."""

    def run(program: Program, texts: list[list[str]]) -> list[Audit]:
        model = compile_program(program)
        return [audit(program, model, text) for text in texts]

    return run
