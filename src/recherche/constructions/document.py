"""docs/theorems.md and docs/certificates.md: for each theorem the argument, the layers, and what was checked.

Everything is taken from the code: the argument is the docstring of the theorem's module, the layers are drawn from the
program, the numbers come from the proofs that were just run.

Reference: Wen, Dang & Lyu (2024), Sections 4 and 5, https://arxiv.org/abs/2402.18510
"""

import inspect
import math
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from recherche._files import write_text
from recherche.constructions import catalogue, theorem_5_1
from recherche.constructions.certificates import CAPACITIES, Certificate, draw_precision
from recherche.constructions.compiler import compile_program
from recherche.constructions.construction import Construction
from recherche.constructions.drawing import draw_program
from recherche.constructions.listing import weights_in_words
from recherche.constructions.proof import Proof, difference, write
from recherche.errors import CertificateError

FIGURES = "figures"
LINE = 112
"""Letters in a line of an example."""

PAGES = "recherche prove all --full --docs docs"
"""The command that writes both pages as they are committed."""

INTRODUCTION = f"""# Theorems that run

Written by `{PAGES}`, from the code alone. Each theorem has four things to read, in this order:

1. **The argument**, the docstring of its module `recherche.constructions.theorem_*`.
2. **The program**, lines over named registers of the residual stream; drawn here, printed by `recherche prove NAME
   --show`. Every kind of line (match, count, copy, lag, ...) is proved in `recherche.constructions.primitives`.
3. **The weights** that the program is compiled to, matrices of the paper's own layers (Definitions 3.1, 3.4, 5.5).
   `recherche prove NAME --weights` prints them row by row in the names of the registers; `--export DIR` writes them.
   Those of `ar-hybrid` are printed and read below, at Theorem 5.6.
4. **The text** that the model with these weights writes, token by token, with the decoding loop and the retriever
   that trained models use. One text is shown for each program (`recherche prove NAME --example`; the model's tokens
   follow the bar); the table says how many were held to an oracle's, and how.

In the table, `all, n <= k` are all problems up to that size, and `random` ones are drawn at several sizes, of which
the largest is given. `margin` is the smallest lead of a generated token's logit over all others. A few texts of each
kind are put to more: step and forward agree bit for bit, so do softmax and hard-max attention, and every register
holds its exact value (`recherche.constructions.proof`).
Your own input: `recherche prove istree-transformer --graph FILE` (or istree-rag, istree-hybrid) walks a graph,
`recherche machine run FILE WORD --by hybrid --show-trace` (or rag, cot) runs a Turing machine.
"""

TABLE_HEAD = (
    "| program | cases | failures | longest text | layers | d_model | heads | nonzeros | margin |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def write_theorems(folder: Path, proofs: Iterable[Proof]) -> None:
    """Write `theorems.md` and a figure of each program's layers below `folder`."""
    text = "\n".join(_sections(folder, list(proofs)))
    write_text(folder / "theorems.md", text + "\n")


def _sections(folder: Path, proofs: list[Proof]) -> Iterator[str]:
    yield INTRODUCTION
    by_theorem: dict[str, list[Construction]] = {theorem_5_1.THEOREM: []}
    for construction in catalogue.CONSTRUCTIONS.values():
        by_theorem.setdefault(construction.theorem, []).append(construction)
    for theorem in sorted(by_theorem):
        constructions = by_theorem[theorem]
        module = sys.modules[f"recherche.constructions.theorem_{theorem.replace('.', '_')}"]
        yield f"## Theorem {theorem}\n" if constructions else f"## Proposition {theorem}\n"
        yield _argument(inspect.getdoc(module) or "")
        for construction in constructions:
            yield from _program(folder, construction)
        if not constructions:
            yield f"{theorem_5_1.STATEMENT}\n"
        yield TABLE_HEAD
        yield from (_row(proof) for proof in proofs if proof.theorem == theorem)
        yield ""


def _program(folder: Path, construction: Construction) -> Iterator[str]:
    name = f"{FIGURES}/{construction.name}.svg"
    draw_program(construction.program(64), folder / name)
    yield f"### {construction.name}\n\n{construction.statement}\n"
    yield "\n".join(f"    {line}" for line in example_text(construction)) + "\n"
    if construction.name == READ_ALOUD:
        yield _weights(construction)
    yield f"![layers of {construction.name}]({name})\n"


def example_text(construction: Construction) -> list[str]:
    """A prompt, a bar, and what the construction's model writes after it, in lines.

    Raises:
        CertificateError: the model does not write what the oracle does.
    """
    suite = construction.example()
    case = suite.cases[0]
    (completion,) = write(construction, compile_program(suite.program), [case])
    if completion != case.completion:
        raise CertificateError(f"{construction.name} fails on its example: {difference(case, completion)}.")
    text = " ".join((*case.prompt, "|", *completion))
    return textwrap.wrap(text, LINE, break_long_words=False, break_on_hyphens=False)


READ_ALOUD = "ar-hybrid"
"""The program whose weights the page prints in full: few, and of every kind."""


def _weights(construction: Construction) -> str:
    program = construction.program(64)
    listing = weights_in_words(program, compile_program(program))
    head = f"Its weights, all of them (`recherche prove {construction.name} --weights`):"
    return "\n".join([head, "", *(f"    {line}" for line in listing), "", WEIGHTS_READ_ALOUD])


WEIGHTS_READ_ALOUD = """From the top: the linear unit keeps this token's number and the one before it (`A` shifts, `B`
reads). The feed-forward squares both and sets the register `one`, which stands in for the biases that attention
lacks. The head's score of an earlier token k is the sum of its rows key * query, that is 4096 (lambda sqrt(d), lambda
= 1024, d = 16) times

    1 - position of k - W (number[-1] at k - number[0] here)^2,      W = 256,      and  -(W + 2) / 2  at <s>.

It is largest at the first token that follows a copy of the query, and at \\<s> if there is none. Two scores differ by
at least 4096, so by 1024 after the division by sqrt(d), and softmax puts all its weight on one token, whose number is
the value. The last feed-forward takes away the query's own embedding and leaves [2v, -1] on the two readout
coordinates: the logits 2vi - i^2 are largest at i = v.
"""


def _argument(docstring: str) -> str:
    """The docstring as Markdown: its indented lines are code already, and a token elsewhere is no HTML tag."""
    lines = [line if line.startswith("    ") else line.replace("<", "\\<") for line in docstring.split("\n")]
    return "\n".join([f"**{lines[0]}**", *lines[1:], ""])


def _row(proof: Proof) -> str:
    kind = "all" if proof.exhaustive else "random"
    cells = (
        proof.program,
        f"{proof.cases:,} ({kind}, n <= {proof.n_max:,})",
        proof.failures,
        f"{proof.longest_trace:,}",
        proof.num_layers,
        proof.d_model,
        proof.n_heads,
        f"{proof.nonzeros:,}",
        "" if proof.margin is None else f"{proof.margin:.2g}",
    )
    return f"| {' | '.join(map(str, cells))} |"


CERTIFICATES = f"""# Certificates

Written by `{PAGES}`. The number of weights that are not zero is the same for every capacity N; the largest weight
grows as a power of N where attention must tell positions apart or a tape is one number; and the smallest p for which
R_p gets every sampled problem right grows with log n, by the bits per doubling in the last column. p above 53, where
float64 no longer holds R_p exactly, is left out. For machines n is the length of the word. A recurrent model that
searches needs few bits: no attention has to tell positions apart. The tape of `machine-cot` is two numbers of n + 2
digits, so its p grows with n itself, about 8 bits a cell; its running time grows with 2^n. A circuit's
`rnn-transformer` has no n, so no p is fitted.

![smallest exact p against n](figures/precision.svg)
"""


def write_certificates(folder: Path, certificates: list[Certificate]) -> None:
    """Write `certificates.md` and the figure of the smallest exact p below `folder`."""
    draw_precision(certificates, folder / FIGURES / "precision.svg")
    sizes = " | ".join(f"largest weight, N = {capacity:,}" for capacity in CAPACITIES)
    head = f"| program | nonzeros | {sizes} | smallest exact p at n | bits per doubling |"
    rows = [head, "|" + " --- |" * (4 + len(CAPACITIES)), *map(_certificate_row, certificates)]
    write_text(folder / "certificates.md", "\n".join([CERTIFICATES, *rows]) + "\n")


def _certificate_row(certificate: Certificate) -> str:
    weights = " | ".join(f"2^{math.log2(weight):.0f}" for weight in certificate.max_abs_weight.values())
    bits = ", ".join(f"{bits} at {n}" for n, bits in certificate.smallest_bits.items())
    slope = "" if certificate.bits_per_doubling is None else f"{certificate.bits_per_doubling:.1f}"
    nonzeros = next(iter(certificate.nonzeros.values()))
    return f"| {certificate.program} | {nonzeros} | {weights} | {bits} | {slope} |"
