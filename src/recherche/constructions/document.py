"""docs/theorems.md and docs/certificates.md: for each theorem the argument, the layers, and what was checked.

Everything is taken from the code: the argument is the docstring of the theorem's module, the layers are drawn from the
program, the numbers come from the proofs that were just run.

Reference: Wen, Dang & Lyu (2024), Sections 4 and 5, https://arxiv.org/abs/2402.18510
"""

import inspect
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from recherche.constructions import catalogue, theorem_5_1
from recherche.constructions.certificates import CAPACITIES, Certificate, draw_precision
from recherche.constructions.construction import Construction
from recherche.constructions.drawing import draw_program
from recherche.constructions.proof import Proof

FIGURES = "figures"

INTRODUCTION = """# Theorems that run

Written by `recherche prove all --docs docs`; the arguments are the modules' own, `recherche.constructions.theorem_*`.
Each program is compiled to weights of the paper's own layers and generates token by token, with the decoding loop and
the retriever that trained models use; every token is compared with an oracle's. How to read a program:
`recherche prove NAME --show`; its weights: `recherche prove NAME --export DIR`.
"""

TABLE_HEAD = (
    "| program | cases | failures | longest text | layers | d_model | heads | nonzeros | margin |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def write_theorems(folder: Path, proofs: Iterable[Proof]) -> None:
    """Write `theorems.md` and a figure of each program's layers below `folder`."""
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    text = "\n".join(_sections(folder, list(proofs)))
    (folder / "theorems.md").write_text(text + "\n", encoding="utf-8")


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
            name = f"{FIGURES}/{construction.name}.svg"
            draw_program(construction.program(64), folder / name)
            yield f"### {construction.name}\n\n{construction.statement}\n\n![layers of {construction.name}]({name})\n"
        yield TABLE_HEAD
        yield from (_row(proof) for proof in proofs if proof.theorem == theorem)
        yield ""


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


CERTIFICATES = """# Certificates

Written by `recherche prove 4.6 4.7 5.6 5.7 --certificates --docs docs`. The number of weights that are not zero is the
same for every capacity N; the largest weight grows as a power of N; and the smallest p for which R_p gets every sampled
problem right grows with log n, by the bits per doubling in the last column (p up to 53, where float64 holds R_p
exactly).

![smallest exact p against n](figures/precision.svg)
"""


def write_certificates(folder: Path, certificates: list[Certificate]) -> None:
    """Write `certificates.md` and the figure of the smallest exact p below `folder`."""
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    draw_precision(certificates, folder / FIGURES / "precision.svg")
    sizes = " | ".join(f"largest weight, N = {capacity:,}" for capacity in CAPACITIES)
    head = f"| program | nonzeros | {sizes} | smallest exact p at n | bits per doubling |"
    rows = [head, "|" + " --- |" * (4 + len(CAPACITIES)), *map(_certificate_row, certificates)]
    (folder / "certificates.md").write_text("\n".join([CERTIFICATES, *rows]) + "\n", encoding="utf-8")


def _certificate_row(certificate: Certificate) -> str:
    weights = " | ".join(f"2^{math.log2(weight):.0f}" for weight in certificate.max_abs_weight.values())
    bits = ", ".join(f"{bits} at {n}" for n, bits in certificate.smallest_bits.items())
    slope = "" if certificate.bits_per_doubling is None else f"{certificate.bits_per_doubling:.1f}"
    nonzeros = next(iter(certificate.nonzeros.values()))
    return f"| {certificate.program} | {nonzeros} | {weights} | {bits} | {slope} |"
